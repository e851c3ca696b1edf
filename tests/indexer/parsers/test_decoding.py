"""Bytes of texts in the encodings of the world: what is certain is read, and what is not is refused."""

import pytest

from indexer.parsers.decoding import EncodingError, decode

RUSSIAN = "Мельницы старого канала\n\nВ работе измерены сорок мельниц. Каждая из них вращается."
UKRAINIAN = "Млини старого каналу. Їх сорок, і кожен має свого мірошника."
GREEK = "Οι μύλοι του παλιού καναλιού. Είναι σαράντα και γυρίζουν κάθε μέρα."
HEBREW = "טחנות הרוח של התעלה הישנה. יש ארבעים מהן, וכל אחת מסתובבת."
ARABIC = "طواحين القناة القديمة. عددها أربعون وكل واحدة منها تدور."
THAI = "กังหันลมของคลองเก่ามีสี่สิบแห่งและหมุนทุกวัน"
CHINESE = "旧运河的风车\n\n我们测量了四十座风车，每一座都在转动。"
TRADITIONAL = "舊運河的風車\n\n我們測量了四十座風車，每一座都在轉動。"
JAPANESE = "古い運河の風車\n\n四十の風車を測定した。どれも毎日回っている。"
KATAKANA = "ウィンドミルのテスト"
KOREAN = "옛 운하의 풍차\n\n우리는 풍차 마흔 개를 재었다. 모두 매일 돈다."
GERMAN = "Mühlen am größten Fluß\n\nJürgen Groß\n\nWir zählen für „alle“ – und öffnen die Höfe."
FRENCH = "Les moulins où l’eau est élevée, «École» et œuvre: ça coûte 40 F à l’été."
ENGLISH = "It’s 5 ± 2 m, “so” it is … and 20 °C — naïve, or not. " * 3
POLISH = "Młyny nad rzeką. Jest ich czterdzieści, a każdy się kręci. Źródło ćwiczeń."
CZECH = "Mlýny na řece. Každý se točí a měří čtyřicet. Příliš žluťoučký kůň."
TURKISH = "Nehirdeki değirmenler. Kırk tane vardır ve her biri döner, şöyle çalışır."
NAMES = "Smith, J., Müller, K., Ångström, A., Núñez, B., Šimon, Ž. and Lefèvre, Œ. — 2010"


@pytest.mark.parametrize(
    ("text", "encodings"),
    [
        (RUSSIAN, "cp1251 koi8_r mac_cyrillic cp866 iso8859_5"),
        (UKRAINIAN, "cp1251 koi8_u"),
        ("Ёлки и ёжики — «всё» № 5…", "cp1251"),
        (GREEK, "cp1253 iso8859_7 mac_greek"),
        (HEBREW, "cp1255"),
        (ARABIC, "cp1256"),
        (THAI, "cp874"),
        (CHINESE, "gb18030 gb2312"),
        (TRADITIONAL, "big5 cp950"),
        (JAPANESE, "shift_jis cp932 euc_jp iso2022_jp"),
        (KATAKANA, "shift_jis euc_jp"),
        (KOREAN, "euc_kr cp949 iso2022_kr"),
        (GERMAN, "cp1252 mac_roman"),
        (GERMAN.replace("„alle“ –", "alle"), "cp850 cp437 latin_1"),
        (FRENCH, "cp1252 mac_roman"),
        (ENGLISH, "cp1252 mac_roman"),
        (POLISH, "cp1250 iso8859_2"),
        (CZECH, "cp1250 iso8859_2"),
        (TURKISH, "cp1254"),
        (NAMES, "cp1252"),
    ],
)
def test_fault_older_encodings_are_recognised(text: str, encodings: str) -> None:
    for encoding in encodings.split():
        decoded = decode(text.encode(encoding))
        assert (decoded.text, len(decoded.remarks)) == (text, 1), encoding
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        decoded = decode(f"{text} 1900.\n".encode(encoding))
        assert (decoded.text.removeprefix("\ufeff"), decoded.remarks) == (f"{text} 1900.\n", ()), encoding


@pytest.mark.parametrize(
    ("content", "text", "remark"),
    [
        (
            GERMAN.encode() + b"\nA \x96 dash, \x93quotes\x94 in M\xfcnchen.",
            f"{GERMAN}\nA – dash, “quotes” in München.",
            "4 bytes are not UTF-8; read as Windows-1252 (Latin-1)",
        ),
        (RUSSIAN.encode() + b" caf\xe9", f"{RUSSIAN} café", "1 byte is not UTF-8"),
        (CHINESE.encode() + b"\n\x97", f"{CHINESE}\n—", "1 byte is not UTF-8"),
        ("Größe und Maß".encode()[:-1], "Größe und Ma", "its last character is cut off"),
        (GERMAN.encode() + b" \x81 x", f"{GERMAN} \ufffd x", "1 byte is not UTF-8"),
    ],
    ids=["German", "Russian", "Chinese", "cut off", "no such sign"],
)
def test_fault_one_stray_byte_costs_only_itself(content: bytes, text: str, remark: str) -> None:
    decoded = decode(content)
    assert (decoded.text, decoded.encoding) == (text, "utf-8")
    assert decoded.remarks[0].startswith(remark)


@pytest.mark.parametrize(
    "content",
    [
        "Шлюзы".encode("cp1251"),
        "A word of ours: мельница".encode("koi8_r"),
        bytes(range(128, 256)) * 4,
        b"\xff\xfea",
    ],
)
def test_what_is_not_certain_is_refused_with_advice(content: bytes) -> None:
    with pytest.raises(EncodingError, match="save it as UTF-8"):
        decode(content)
