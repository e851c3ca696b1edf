"""The few rules of style that Streamlit's theme cannot express; a constant, no text from anywhere."""

STYLE = """
<style>
:root { --pt-strong: #2b6aa3; --pt-paper: #fbfaf7; }
.stMainBlockContainer { max-width: 82rem; padding-top: 4.5rem; }
[data-testid="stBottomBlockContainer"] { max-width: 82rem; padding-bottom: 1.2rem; }
.stMarkdown p, .stMarkdown li, [data-testid="stText"] { line-height: 1.6; }
[class*="st-key-reading"] .stMarkdown p, [class*="st-key-reading"] .stMarkdown li,
[class*="st-key-reading"] [data-testid="stText"] { font-size: 17px; max-width: 60ch; }
[data-testid="stText"] { font-family: inherit; white-space: pre-line; overflow-wrap: anywhere; }
[class*="st-key-question"] .stMarkdown p {
  font-family: "Source Serif", serif; font-size: 1.35rem; line-height: 1.35; max-width: 46ch; }
[class*="st-key-question"] { scroll-margin-top: 4.5rem; }
[class*="st-key-latest"] { min-height: calc(100vh - 14rem); }
a[href^="#cite-"] { text-decoration: none; font-size: .78em; font-weight: 600; vertical-align: .22em;
  line-height: 1; padding: .12em .22em; border-radius: 4px; white-space: nowrap;
  background: color-mix(in srgb, currentColor 12%, transparent); }
a[href^="#cite-"]:hover, a[href^="#cite-"]:focus-visible {
  background: color-mix(in srgb, currentColor 26%, transparent); }
[class*="st-key-marked_sentence"] { border-left: 3px solid #ca8a04; padding: .35rem .6rem .35rem .8rem;
  background: rgba(234, 179, 8, .16); border-radius: 0 6px 6px 0; }
[class*="st-key-context"] [data-testid="stText"] { font-size: 15.5px; opacity: .86; }
.pt-score { display: grid; grid-template-columns: 4.6rem minmax(4rem, 11rem) auto; gap: .6rem;
  align-items: center; font-size: .9rem; }
.pt-track { height: 8px; border-radius: 4px; background: #8884; overflow: hidden; }
.pt-fill { display: block; height: 100%; border-radius: 4px; }
.pt-weak { background: #dc2626; } .pt-partial { background: #ca8a04; }
.pt-strong { background: var(--pt-strong); }
.pt-value { font-variant-numeric: tabular-nums; }
[data-testid="stColumn"]:has(.st-key-evidence_panel) {
  position: sticky; top: 4.25rem; align-self: flex-start; }
.st-key-evidence_panel { max-height: calc(100vh - 10rem); overflow-y: auto; padding-right: .35rem;
  scrollbar-width: thin; }
[class*="st-key-row_"] { border-top: 1px solid color-mix(in srgb, currentColor 14%, transparent);
  padding-top: .7rem; }
[class*="st-key-row_"] .stMarkdown p { font-size: 15px; max-width: 76ch; line-height: 1.5; }
[class*="st-key-tick_"] { margin-top: -.15rem; }
[class*="st-key-title_link"] a { padding: 0; text-align: left; }
[class*="st-key-title_link"] a:hover { background: none; text-decoration: underline; }
[class*="st-key-title_link"] a p, [class*="st-key-title_link"] a span {
  white-space: normal; font-size: 16.5px; font-weight: 600; line-height: 1.35; }
[class*="st-key-strip_"] img { object-fit: cover; width: 100%; }
[data-testid="stLayoutWrapper"]:has(> .st-key-measure) { display: none; }
[class*="st-key-steps_"] { flex-wrap: nowrap; align-items: flex-end; }
[class*="st-key-steps_"] > div:first-child { flex: 0 1 auto; min-width: 0; }
[class*="st-key-steps_"] > div:last-child { flex: none; }
[class*="st-key-steps_"] [data-testid="stCaptionContainer"],
[class*="st-key-steps_"] [data-testid="stCaptionContainer"] p { margin: 0; }
[class*="st-key-findings_"] [data-testid="stCaptionContainer"] { margin: 0; }
[class*="st-key-steps_"] button, [class*="st-key-findings_"] button { min-height: 0; padding: 0 .15rem; }
[class*="st-key-steps_"] button p, [class*="st-key-findings_"] button p { font-size: .875rem;
  text-decoration: underline; text-underline-offset: .2em; }
[class*="st-key-findings_"] [data-testid="stHorizontalBlock"], [class*="st-key-findings_"] p { margin: 0; }
[class*="st-key-title_link_nearest"] [data-testid="stText"] { font-size: 15.5px; opacity: .86; }
[class*="st-key-quiet_references"] button { min-height: 0; padding: .12rem 0; }
[class*="st-key-downloads_"] button { min-height: 1.9rem; padding: .1rem .2rem; }
:is(.st-key-conversations, .st-key-comparisons) :is(button, button > div) { justify-content: flex-start; }
:is(.st-key-conversations, .st-key-comparisons) button p {
  white-space: normal; text-align: left; line-height: 1.35; }
:is(.st-key-conversations, .st-key-comparisons) .stMarkdown p { line-height: 1.35; }
:is(.st-key-current_conversation, .st-key-current_comparison) {
  border-left: 3px solid var(--pt-strong); padding-left: .6rem; }
[class*="st-key-quiet"] button p { white-space: normal; text-align: left; }
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p { color: inherit; }
[data-testid="stCaptionContainer"] { opacity: .78; }
[class*="_head"] button { min-height: 1.8rem; padding: 0 .4rem; }
[class*="st-key-examples"] { gap: .1rem; }
[class*="st-key-examples"] button { min-height: 2rem; padding: .2rem 0; height: auto; }
[class*="st-key-examples"] button p { white-space: normal; text-align: left; }
[class*="st-key-similar"] a { background: none; padding: .15rem 0; }
[class*="st-key-similar"] a p, [class*="st-key-similar"] a span { white-space: normal; line-height: 1.4;
  font-weight: 400; }
[class*="st-key-similar"] a:hover { text-decoration: underline; }
[class*="st-key-reading_aspect"] [data-testid="stHorizontalBlock"] { gap: .25rem .8rem; }
[class*="st-key-reading_aspect"] [data-testid="stVerticalBlock"] { gap: .1rem; }
[class*="st-key-reading_aspect"] .stMarkdown strong { font-size: 15.5px; }
[class*="st-key-reading_aspect"] .pt-score { margin: .1rem 0 .3rem; }
[class*="st-key-reading_aspect"] [data-testid="stCaptionContainer"] p { font-size: .85rem; }
[class*="st-key-says_so"] a { background: none; padding: 0; min-height: 1.5rem; }
[class*="st-key-says_so"] a p, [class*="st-key-says_so"] a span { font-size: .85rem; font-weight: 400;
  text-decoration: underline; text-underline-offset: .2em;
  text-decoration-color: color-mix(in srgb, currentColor 40%, transparent); }
.st-key-topics { row-gap: 1rem; column-gap: 1.3rem; margin: .4rem 0 .2rem; }
[class*="st-key-topics_"] { flex-wrap: wrap; gap: .9rem .35rem; }
[class*="st-key-topics_"] a { padding: .05rem .6rem; min-height: 1.65rem; border-radius: 999px;
  background: none; border: 1px solid #8887; }
[class*="st-key-topics_"] a:hover, [class*="st-key-topics_"] a:focus-visible {
  background: #8882; }
[class*="st-key-topics_"] a p, [class*="st-key-topics_"] a span { font-size: .85rem; font-weight: 400;
  white-space: normal; }
.st-key-chosen_topics { gap: .4rem; }
.st-key-chosen_topics button { min-height: 1.9rem; padding: .1rem .6rem; border-radius: 999px; }
.st-key-chosen_topics button p { font-size: .9rem; white-space: normal; text-align: left; }
[class*="st-key-card_foot"] { flex-wrap: nowrap; }
.st-key-facets { row-gap: .4rem; }
[class*="st-key-aspect_lines"] { padding-bottom: .6rem; }
[class*="st-key-aspect_lines"] .stMarkdown p { margin: 0; max-width: none; overflow: hidden;
  white-space: nowrap; text-overflow: ellipsis; }
[class*="st-key-aspect_lines"] .stMarkdown p > span:first-child { display: inline-block; width: 5.3rem; }
.st-key-entries { gap: .5rem; }
.st-key-entries a { background: none; padding: .1rem 0; min-height: 0; }
.st-key-entries a p, .st-key-entries a span { white-space: normal; font-weight: 400;
  text-decoration: underline; text-underline-offset: .2em;
  text-decoration-color: color-mix(in srgb, currentColor 40%, transparent); }
.st-key-entries a p, .st-key-entries .stMarkdown p { font-size: 15px; line-height: 1.5; margin: 0; }
.st-key-entries .stMarkdown p + p { margin-top: .5rem; }
.st-key-entries [data-testid="stMarkdownContainer"] { margin-bottom: 0; }
[class*="st-key-marked_sentence"] { scroll-margin-block: 7rem; }
.pt-tree { display: flex; flex-wrap: wrap; align-items: center; min-height: 1.65rem; gap: .35rem .4rem; }
.pt-chip { font-size: .85rem; line-height: 1.4; padding: .05rem .55rem; border-radius: 999px;
  border: 1px solid #8887; font-variant-numeric: tabular-nums; white-space: nowrap; }
.pt-kept { border-color: var(--pt-strong); font-weight: 600;
  background: color-mix(in srgb, var(--pt-strong) 16%, transparent); }
.pt-note { font-size: .85rem; line-height: 1.6; opacity: .78; }
.pt-dots { display: flex; flex-wrap: wrap; gap: .3rem; }
.pt-dot { width: .7rem; height: .7rem; border-radius: 50%; border: 1.5px solid #888a; }
.pt-read { background: var(--pt-strong); border-color: var(--pt-strong); }
.pt-failed { background: #dc2626; border-color: #dc2626; }
[class*="st-key-desk_row_"] a, .st-key-found_papers button { background: none; padding: .15rem 0; }
[class*="st-key-desk_row_"] a p, [class*="st-key-desk_row_"] a span, .st-key-found_papers button p {
  white-space: normal; line-height: 1.4; font-weight: 400; text-align: left; }
.st-key-found_papers button, .st-key-found_papers button > div { justify-content: flex-start; }
[class*="st-key-desk_row_"] a:hover :is(p, span) { text-decoration: underline; }
[class*="st-key-desk_row_"] { flex-wrap: nowrap; }
:is([class*="st-key-desk_row_"], .st-key-found_papers) .stMarkdownColoredText {
  display: block; font-size: .875rem; }
.st-key-more_papers a { background: none; padding-left: 0; }
.st-key-progress { flex-wrap: nowrap; align-items: flex-start; }
.st-key-progress > div { flex: 0 1 auto; min-width: 0; }
.st-key-progress > div:has(button) { flex: none; }
.pt-grid { overflow: auto; max-height: 78vh; scrollbar-width: auto; border-radius: 6px;
  scrollbar-color: color-mix(in srgb, currentColor 45%, transparent) transparent;
  border: 1px solid color-mix(in srgb, currentColor 16%, transparent); }
.pt-grid table { border-collapse: separate; border-spacing: 0; table-layout: fixed; width: 100%;
  min-width: 66rem; font-size: 13.5px; line-height: 1.4; margin: 0; }
.pt-grid :is(th, td) { text-align: left; vertical-align: top; padding: .45rem .55rem; font-weight: 400;
  overflow-wrap: break-word; border: 0;
  border-bottom: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
.pt-grid tr:last-child > * { border-bottom: 0; }
.pt-grid th { font-weight: 600; background: var(--pt-paper); position: sticky; }
.pt-grid thead th { top: 0; z-index: 1; }
.pt-grid th:first-child { left: 0; width: 10rem; z-index: 1;
  border-right: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
.pt-grid thead th:first-child { z-index: 2; }
.pt-grid a { color: inherit; text-decoration: none; display: block; }
.pt-grid a:hover, .pt-grid a:focus-visible { text-decoration: underline; text-underline-offset: .2em; }
.pt-facts { display: block; font-weight: 400; font-size: 12.5px; opacity: .8; margin-top: .25rem;
  font-variant-numeric: tabular-nums; }
.pt-spot { display: inline-block; width: .55rem; height: .55rem; border-radius: 50%; margin-right: .35rem; }
.pt-absent { opacity: .7; font-style: italic; }
.pt-not-carried { background: color-mix(in srgb, #dc2626 9%, transparent); }
.pt-mark { display: block; font-weight: 600; margin-bottom: .2rem; }
.st-key-grid_head { justify-content: space-between; }
.st-key-reading_differences ul { margin-bottom: .7rem; }
.st-key-progress .stMarkdown p { padding-top: .45rem; font-variant-numeric: tabular-nums; }
.stImage img { border: 1px solid color-mix(in srgb, currentColor 16%, transparent); border-radius: 4px; }
@media (max-width: 640px) {
  .stMainBlockContainer { padding: 4rem 1rem 2rem; }
  .stMainBlockContainer h1 { font-size: 1.5rem; }
  .st-key-evidence_panel { display: none; }
  [class*="st-key-aspect_lines"] .stMarkdown p { white-space: normal; display: -webkit-box;
    -webkit-box-orient: vertical; -webkit-line-clamp: 2; margin-bottom: .3rem; }
  [class*="st-key-aspect_lines"] .stMarkdown p > span:first-child { width: auto; margin-right: .3rem; }
  [class*="st-key-topics_"] a { min-height: 2rem; }
}
@media print {
  [data-testid="stBottom"], [data-testid="stHeader"], .stButton, .stDownloadButton { display: none; }
}
</style>
"""

# The dark theme's accent is light: Streamlit's white on it, in buttons and chips, could not be read, nor what
# Streamlit darkens on hover.
DARK_STYLE = """
<style>
:root { --pt-strong: #8fb8de; --pt-paper: #171614; }
[data-testid="stBaseButton-primary"], [data-testid="stBaseButton-primary"] p { color: #171614; }
button[kind="tertiary"]:is(:hover, :active, [aria-expanded="true"]),
button[kind="tertiary"]:is(:hover, :active, [aria-expanded="true"]) p { color: #8fb8de; }
[data-testid="stMultiSelectTagsContainer"] [data-tag],
[data-testid="stMultiSelectTagsContainer"] [data-tag] * { color: #171614; }
</style>
"""
