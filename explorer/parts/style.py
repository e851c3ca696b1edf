"""The few rules of style that Streamlit's theme cannot express; a constant, no text from anywhere."""

STYLE = """
<style>
:root { --pt-strong: #2b6aa3; --pt-page: #fbfaf7; }
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
.st-key-grid_head { justify-content: space-between; }
.st-key-reading_differences ul { margin-bottom: .7rem; }
.st-key-progress .stMarkdown p { padding-top: .45rem; font-variant-numeric: tabular-nums; }
.stImage img { border: 1px solid color-mix(in srgb, currentColor 16%, transparent); border-radius: 4px; }
/* The Paper screen. */
.st-key-author_links { row-gap: 0; column-gap: .35rem; }
[class*="st-key-author_links"] a { background: none; padding: 0; min-height: 1.6rem; }
[class*="st-key-author_links"] a p, [class*="st-key-author_links"] a span { font-weight: 400;
  white-space: normal; text-decoration: underline; text-underline-offset: .2em;
  text-decoration-color: color-mix(in srgb, currentColor 35%, transparent); }
.st-key-author_links .stPageLink { display: flex; align-items: center; }
.st-key-author_links > div:not(:last-child) .stPageLink::after { content: ","; }
.st-key-author_links button { min-height: 1.6rem; padding: 0 .2rem; }
.st-key-paper_links { row-gap: 0; }
.st-key-paper_links :is(a, button) { min-height: 1.8rem; padding: 0 .2rem; }
.st-key-paper_actions [data-testid="stMarkdownContainer"] { margin: 0 .4rem; }
.st-key-paper_actions .stMarkdown p { margin: 0; }
.st-key-way_back a { background: none; padding-left: 0; }
[data-testid="stLayoutWrapper"]:has(> .st-key-contents_bar) { position: sticky; top: 3.3rem; z-index: 2;
  padding-block: .55rem .35rem; background: var(--pt-page); }
.st-key-contents_bar button { min-height: 2rem; }
[class*="st-key-reading_section"] a[href^="#cite-"][href$="-0"] { background: none; padding-inline: .05em;
  font-weight: 400; opacity: .8; }
[class*="st-key-reading"] :is(h2, h3) { scroll-margin-top: 7rem; }
.st-key-similar .stMarkdownColoredText { display: block; font-size: .875rem; }
@media (min-width: 641px) {
  [data-testid="stColumn"]:has(.st-key-pages) { position: sticky; top: 4.25rem; align-self: flex-start; }
  .st-key-pages { max-height: calc(100vh - 5.5rem); overflow-y: auto; scrollbar-width: thin; }
}
.st-key-page_turner { flex-wrap: nowrap; }
.st-key-page_turner kbd { display: none; }
.st-key-page_turner > .st-key-page_zoom { margin-left: auto; }
.st-key-page_turner button, .st-key-pdf_doors button { min-height: 2rem; padding: 0 .35rem; }
.st-key-page_close { overflow: auto; max-height: 78vh; }
.st-key-page_close img { width: 1100px !important; max-width: none !important; }
.stHtml ol.pt-steps { display: grid; grid-template-columns: 3fr 4fr 2.6fr 2.6fr; gap: .15rem .8rem;
  margin: 0 0 .3rem; padding: 0; list-style: none; max-width: 44rem; font-size: .875rem; line-height: 1.35; }
.pt-step { display: flex; align-items: baseline; gap: .45rem; margin: 0; padding: 0; color: inherit; }
.pt-step::before { content: ""; flex: none; width: .5rem; height: .5rem; border-radius: 50%;
  background: var(--pt-strong); }
.pt-step-done { opacity: .8; }
.pt-step-now { font-weight: 600; }
.pt-step-now::before { background: none; box-shadow: inset 0 0 0 2px var(--pt-strong); }
.pt-step-next { opacity: .55; }
.pt-step-next::before { background: none; box-shadow: inset 0 0 0 1px currentColor; }
.pt-took { white-space: nowrap; font-variant-numeric: tabular-nums; }
[class*="st-key-steps_"] { min-height: 1.75rem; }
@media (max-width: 640px) {
  .stHtml ol.pt-steps { grid-template-columns: 1fr 1.25fr; }
  [class*="st-key-actions_"] { row-gap: 0; }
  .stMainBlockContainer { padding: 4rem 1rem 2rem; }
  .stMainBlockContainer h1 { font-size: 1.5rem; }
  .st-key-evidence_panel { display: none; }
  [class*="st-key-topics_"] a { min-height: 2rem; }
}
.st-key-filters { flex-wrap: nowrap; }
.st-key-filters > div:first-child { flex: 1 1 auto; }
.st-key-filters_on_phone { justify-content: space-between; flex-wrap: nowrap; }
.pt-years { display: flex; align-items: flex-end; gap: 1px; height: 52px; margin: 0 .5rem; }
.pt-years span { flex: 1 1 0; background: var(--pt-strong); opacity: .75; border-radius: 1px 1px 0 0; }
.st-key-beginning [data-testid="stCaptionContainer"] p, .st-key-beginning .stMarkdown p { margin: 0; }
:is(.st-key-volume_list, .st-key-map_groups, [class*="st-key-overview_"]) :is(a, button) {
  min-height: 0; padding: .2rem 0; height: auto; background: none; justify-content: flex-start; }
:is(.st-key-volume_list, .st-key-map_groups) button > div { justify-content: flex-start; }
:is(.st-key-volume_list, .st-key-map_groups, [class*="st-key-overview_"]) :is(a, button) :is(p, span) {
  white-space: normal; text-align: left; line-height: 1.35; font-weight: 400; }
[class*="st-key-overview_"] a:hover { text-decoration: underline; }
.st-key-overview_cited { gap: .35rem; }
.st-key-map_groups .stMarkdown { margin-bottom: .3rem; }
.st-key-map_groups button::before { content: ""; flex: none; width: .65rem; height: .65rem;
  border-radius: 50%; margin-right: .5rem; }
.st-key-map_side { max-height: 38rem; overflow-y: auto; scrollbar-width: thin; }
[class*="st-key-map_row_"] { flex-wrap: nowrap; align-items: flex-start; padding-bottom: .35rem; }
[class*="st-key-map_row_"] > div:has(a) { flex: 1 1 auto; min-width: 0; }
[class*="st-key-map_row_"] > div:has(.stCheckbox) { flex: none; }
[class*="st-key-map_row_"] a { background: none; padding: 0; }
[class*="st-key-map_row_"] a:hover { text-decoration: underline; }
[class*="st-key-map_row_"] a :is(p, span) { white-space: normal; font-weight: 400; line-height: 1.35; }
[class*="st-key-map_row_"] .stMarkdownColoredText { display: block; font-size: .875rem; }
.st-key-listed button, .st-key-map_list_head button { min-height: 0; padding: 0 .2rem; }
:is(.st-key-listed, .st-key-map_list_head, .st-key-volumes_head)
  :is([data-testid="stCaptionContainer"], [data-testid="stMarkdownContainer"], p) { margin: 0; }
.st-key-beginning { padding-bottom: .5rem; }
[class*="st-key-row_"] > div:has(.stCheckbox) { flex: none; width: 1.5rem; }
[class*="st-key-row_"] > div:has(> [class*="st-key-title_link"]) { flex: 1 1 20rem; min-width: 0; }
[class*="st-key-row_"] > div:has([data-testid="stCaptionContainer"]) { flex: none; width: 15rem; }
[class*="st-key-row_"] [data-testid="stCaptionContainer"] p { margin: 0; font-size: .875rem;
  line-height: 1.5; }
[class*="st-key-row_"] .stMarkdown p { margin: 0; max-width: 96ch; }
[class*="st-key-row_"] :is([data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"]) {
  margin-bottom: 0; }
[class*="st-key-card_foot"] { padding-top: .35rem; }
[class*="st-key-title_link_with_aspects"] .stMarkdown p { margin: 0; max-width: none; overflow: hidden;
  white-space: nowrap; text-overflow: ellipsis; }
[class*="st-key-title_link_with_aspects"] .stMarkdown p > span:first-child {
  display: inline-block; width: 5.3rem; }
@media (max-width: 640px) {
  [class*="st-key-title_link_with_aspects"] .stMarkdown p { white-space: normal; display: -webkit-box;
    -webkit-box-orient: vertical; -webkit-line-clamp: 2; margin-bottom: .3rem; }
  [class*="st-key-title_link_with_aspects"] .stMarkdown p > span:first-child {
    width: auto; margin-right: .3rem; }
  .st-key-map_side { max-height: none; }
  [class*="st-key-row_"] > div:has([data-testid="stCaptionContainer"]) { width: 100%; padding-left: 2rem; }
}
@media print {
  [data-testid="stBottom"], [data-testid="stHeader"], .stButton, .stDownloadButton { display: none; }
}
[class*="st-key-own_row_"] { flex-wrap: nowrap; padding-top: .55rem;
  border-top: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
[class*="st-key-own_row_"] a { padding: 0; min-height: 0; background: none; }
[class*="st-key-own_row_"] a:hover { text-decoration: underline; }
[class*="st-key-own_row_"] :is(a p, a span, .stMarkdown > div > p) { white-space: normal; line-height: 1.4;
  font-size: 1rem; font-weight: 600; margin: 0; }
[class*="st-key-own_row_"] [data-testid="stCaptionContainer"] p { font-weight: 400; font-size: .875rem; }
[class*="st-key-own_row_"] [data-testid="stText"], [class*="st-key-own_refused_"] [data-testid="stText"] {
  font-size: .875rem; white-space: normal; overflow-wrap: anywhere; }
[class*="st-key-own_facts_"] [data-testid="stText"], [class*="st-key-own_remarks_"] [data-testid="stText"] {
  opacity: .75; }
[class*="st-key-own_address_"] [data-testid="stText"] { font-size: 1rem; font-weight: 600; }
/* What the field for files has taken is in the list below it. */
.st-key-own_files [data-testid="stFileChips"] > div >
  div:not(:has([aria-invalid="true"], [data-testid="stFileChipIconSpinner"])) { display: none; }
.st-key-own_files [data-testid="stFileChips"] button[aria-label="Add files"] { width: auto; }
.st-key-own_files [data-testid="stFileChips"] button[aria-label="Add files"]::after { content: "Add files";
  white-space: nowrap; }
/* Words among controls stand on one line with theirs. */
.st-key-choices [data-testid="stColumn"] [data-testid="stCaptionContainer"] {
  display: flex; align-items: center; min-height: 2.5rem; }
.st-key-listed .stButton { display: flex; }
.st-key-side_head kbd { display: none; }
.st-key-paper_actions .stMarkdown a { color: inherit; text-decoration: none; }
.st-key-paper_actions .stMarkdown a:hover { color: var(--pt-strong); }
/* A thumb is wider than a citation's number; the lines stay where they are. */
@media (pointer: coarse), (max-width: 640px) {
  a[href^="#cite-"] { position: relative; }
  a[href^="#cite-"]::after { content: ""; position: absolute; inset: -.85em -.3em; }
}
.st-key-look_in { flex-wrap: nowrap; }
.st-key-look_in button { white-space: nowrap; }
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] > p:last-child { margin-bottom: 0; }
[data-testid="stExpander"] summary { opacity: 1; }
</style>
"""

# The dark theme's accent is light: Streamlit's white on it, in buttons and chips, could not be read, nor what
# Streamlit darkens on hover.
DARK_STYLE = """
<style>
:root { --pt-strong: #8fb8de; --pt-page: #171614; }
[data-testid="stBaseButton-primary"], [data-testid="stBaseButton-primary"] p { color: #171614; }
button[kind="tertiary"]:is(:hover, :active, [aria-expanded="true"]),
button[kind="tertiary"]:is(:hover, :active, [aria-expanded="true"]) p { color: #8fb8de; }
[data-testid="stMultiSelectTagsContainer"] [data-tag],
[data-testid="stMultiSelectTagsContainer"] [data-tag] * { color: #171614; }
</style>
"""
