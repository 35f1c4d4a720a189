"""How the report looks: plain CSS, below one class, for light and dark."""

from __future__ import annotations

CLASS = "delta-upkeep-health"

_LIGHT = (
    "color-scheme:light;--page:#f6f7f9;--card:#ffffff;--line:#dfe3e8;--ink:#1f2933;--soft:#57626e;"
    "--accent:#0b7a75;--past:#98a4b1;--code:#eef1f4;"
    "--ok:#1a7340;--info:#1f5fbf;--warning:#8a5a00;--critical:#b3261e;"
)
_DARK = (
    "color-scheme:dark;--page:#12161b;--card:#1a2027;--line:#303943;--ink:#e4e9ee;--soft:#a3afbb;"
    "--accent:#3fb8ae;--past:#66727f;--code:#242c35;"
    "--ok:#5cc98a;--info:#7db2ff;--warning:#e6b450;--critical:#ff8f85;"
)

# A notebook says in the page's body which theme it has, whatever the system prefers.
_THEMES = """
&{LIGHT}
@media (prefers-color-scheme:dark){&{DARK}}
body[data-jp-theme-light="true"] &,body.vscode-light &{LIGHT}
body[data-jp-theme-light="false"] &,body.vscode-dark &,html[theme="dark"] &{DARK}
"""

_RULES = """
&{container:delta-upkeep-health/inline-size;box-sizing:border-box;max-width:1120px;margin:0 auto;
padding:20px 16px;border-radius:8px;background:var(--page);color:var(--ink);
font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
text-align:left;overflow-wrap:anywhere}
& *{box-sizing:border-box}
& h1,& h2,& h3,& p,& pre,& dl,& dd,& figure{margin:0;padding:0;border:0;color:inherit;
font-family:inherit}
& h1{font-size:20px;line-height:1.3;font-weight:600}
& h2{margin:28px 0 10px;font-size:15px;line-height:1.4;font-weight:600}
& h3{font-size:14px;line-height:1.5;font-weight:600}
& .soft{color:var(--soft)}
& .small{font-size:12px}
& .card{padding:14px 16px;border:1px solid var(--line);border-radius:6px;background:var(--card)}
& .status{display:flex;gap:10px;align-items:center;margin-top:12px}
& .grid{display:grid;gap:12px;grid-template-columns:minmax(0,1fr)}
& .tiles{grid-template-columns:repeat(2,minmax(0,1fr));margin-top:16px}
& .tiles dt{color:var(--soft);font-size:12px;font-weight:400;display:flex;gap:6px;
align-items:center}
& .tiles .number{font-size:20px;line-height:1.4;font-weight:600}
& .mark{flex:none;width:16px;height:16px;display:block;overflow:visible}
& .mark .sign{fill:none;stroke:var(--card);stroke-width:1.8;stroke-linecap:round;
stroke-linejoin:round}
& .severity{display:inline-flex;gap:6px;align-items:center;font-weight:600;white-space:nowrap}
& .ok{color:var(--ok)}
& .info{color:var(--info)}
& .warning{color:var(--warning)}
& .critical{color:var(--critical)}
& .finding{display:grid;gap:4px 14px;grid-template-columns:minmax(0,1fr) auto}
& .finding>*{grid-column:1/-1}
& .finding>.severity{grid-column:1}
& .finding>.number{grid-column:2;grid-row:1;font-weight:600}
& .number{font-variant-numeric:tabular-nums;color:var(--ink)}
& pre{margin-top:6px;padding:7px 10px;border-radius:4px;background:var(--code);color:var(--ink);
white-space:pre-wrap;overflow-wrap:anywhere;user-select:all;-webkit-user-select:all}
& code{padding:0;background:none;color:inherit;font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,
Consolas,"Liberation Mono",monospace}
& .legend{display:flex;flex-wrap:wrap;gap:4px 14px;margin:6px 0 0;color:var(--soft);font-size:12px}
& .legend span{display:inline-flex;gap:5px;align-items:center}
& .legend svg{width:11px;height:11px;flex:none}
& .chart{display:block;margin-top:10px;overflow:visible}
& .chart text{font-size:12px;fill:var(--ink)}
& .chart .label text,& .chart .tick{fill:var(--soft)}
& .chart .label text{text-anchor:end}
& .chart .value{font-variant-numeric:tabular-nums}
& .rule{stroke:var(--line)}
& .bar0{fill:var(--accent)}
& .paired .bar0{fill:var(--past)}
& .bar1,& .paired .bar1{fill:var(--accent)}
& .cell{fill:var(--accent);stroke:var(--card);stroke-width:2}
& .heat0{fill-opacity:.2}
& .heat1{fill-opacity:.38}
& .heat2{fill-opacity:.56}
& .heat3{fill-opacity:.76}
& .heat4{fill-opacity:1}
& .wide{grid-column:1/-1}
& .strips{grid-template-columns:minmax(0,1fr);gap:14px 32px;margin-top:8px}
& .ends{display:flex;justify-content:space-between;gap:12px;margin-top:4px}
& .ends span{min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
& table{width:100%;max-width:none;margin:0;border:0;border-collapse:collapse;table-layout:auto;
font-size:13px;color:inherit}
& thead,& tbody,& tr,& tbody tr:nth-child(n){border:0;background:none}
& td,& th{padding:7px 12px 7px 0;border:0;border-bottom:1px solid var(--line);text-align:left;
vertical-align:top;font-weight:400;white-space:normal;max-width:none}
& thead th{color:var(--soft);font-size:12px}
& tr:last-child>td,& tbody tr:last-child>th{border-bottom:0}
& td.number,& th.number{padding:7px 0 7px 12px;text-align:right;overflow-wrap:normal}
& tbody th{font-weight:600}
& tbody th p{font-weight:400}
& caption{padding:12px 0 2px;color:var(--ink);font-weight:600;text-align:left;caption-side:top}
& summary{cursor:pointer;font-weight:600}
& td:first-child{width:1px;padding-right:20px}
& details table{max-width:560px;table-layout:fixed}
& .changes{margin:0 0 12px}
& .changes .number{font-size:14px}
& .foot{margin-top:16px;color:var(--soft);font-size:12px}
@container delta-upkeep-health (min-width:720px){
& .tiles{grid-template-columns:repeat(4,minmax(0,1fr))}
& .figures,& .strips{grid-template-columns:repeat(2,minmax(0,1fr))}
& td.number{white-space:nowrap}
& .changes .number{font-size:17px}
& .finding{grid-template-columns:104px minmax(0,1fr) auto}
& .finding>*{grid-column:2/-1}
& .finding>.severity{grid-column:1}
& .finding>h3{grid-column:2;grid-row:1}
& .finding>.number{grid-column:3}
}
"""


def style() -> str:
    """Return the rules.

    The class is there twice in each selector: a notebook's own rules for tables and headings have
    the weight of up to two classes.
    """
    themes = _THEMES.replace("{LIGHT}", f"{{{_LIGHT}}}").replace("{DARK}", f"{{{_DARK}}}")
    return (themes + _RULES).replace("&", f".{CLASS}.{CLASS}").replace("\n", "")


def page_style() -> str:
    """Return the one rule for a page of its own, whose margins should not stand out."""
    return (
        f"body{{margin:0;{_LIGHT}background:var(--page)}}"
        f"@media (prefers-color-scheme:dark){{body{{{_DARK}}}}}"
    )
