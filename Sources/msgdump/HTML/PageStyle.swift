/// The looks that all pages share: those of the benchmark's report.
enum PageStyle {
  /// The colours of text and ground, for light and for dark; text has a contrast of 4.5 or more.
  static let base = """
    :root {
      color-scheme: light dark;
      --ground: #ffffff; --card: #f6f7f9; --ink: #16181d; --faint: #5b6270; --line: #d9dde4;
      --link: #1d5fd1;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #14161a; --card: #1e2127; --ink: #eceef2; --faint: #a3abb9; --line: #363b45;
        --link: #7db0ff;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0 auto; padding: 16px; max-width: 1100px; background: var(--ground);
      color: var(--ink); font: 15px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif;
      -webkit-text-size-adjust: 100%; overflow-wrap: anywhere;
    }
    h1 { font-size: 24px; line-height: 1.2; margin: 8px 0 12px; }
    h2 { font-size: 19px; margin: 32px 0 4px; }
    a { color: var(--link); }
    :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
    .note { color: var(--faint); font-size: 13px; margin: 0 0 8px; }
    .code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.8em; \
    border: 1px solid var(--line); border-radius: 4px; padding: 0 3px; color: var(--faint); \
    white-space: nowrap; }
    """

  /// Cards, bars, columns, and tables.
  static let pictures = """
    p { margin: 0 0 8px; }
    nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 0; \
    padding: 0; font-size: 13px; }
    .figures { display: grid; gap: 12px; margin: 12px 0 0; \
    grid-template-columns: repeat(auto-fill, minmax(126px, 1fr)); }
    .figures div { background: var(--card); border-radius: 10px; padding: 10px 12px; }
    .figures dt { color: var(--faint); font-size: 12.5px; }
    .figures dd { margin: 0; font-size: 19px; font-weight: 600; }
    .cards { display: grid; gap: 12px; margin-bottom: 8px; \
    grid-template-columns: repeat(auto-fill, minmax(min(100%, 240px), 1fr)); }
    figure { margin: 0 0 12px; padding: 12px; background: var(--card); border-radius: 10px; \
    min-width: 0; }
    .cards figure { margin: 0; }
    figcaption { font-weight: 600; font-size: 13px; margin-bottom: 6px; }
    figcaption small { display: block; font-weight: 400; color: var(--faint); }
    svg { display: block; width: 100%; }
    .bar { display: grid; grid-template-columns: minmax(0, 150px) 1fr 96px; gap: 8px; \
    align-items: center; font-size: 13px; }
    .bar span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; \
    line-height: 22px; }
    .bar b { text-align: right; font-weight: 400; font-variant-numeric: tabular-nums; }
    .line { height: 14px; }
    .line rect { height: 14px; rx: 2px; }
    .columns { height: 72px; }
    .plain { fill: var(--link); }
    .ground { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
    .ends { display: flex; justify-content: space-between; color: var(--faint); \
    font-size: 11.5px; }
    details { margin: 0 0 8px; }
    summary { cursor: pointer; font-size: 13px; color: var(--link); padding: 4px 0; }
    .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 10px; \
    margin-bottom: 8px; }
    table { border-collapse: separate; border-spacing: 0; width: 100%; \
    font-size: 13px; line-height: 20px; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
    caption { text-align: start; padding: 8px 10px 0; color: var(--faint); }
    th, td { padding: 6px 10px; text-align: end; vertical-align: top; \
    border-bottom: 1px solid var(--line); white-space: nowrap; }
    tbody tr:last-child > * { border-bottom: 0; }
    th { font-weight: 600; }
    th:first-child { text-align: start; position: sticky; left: 0; background: var(--ground); }
    tbody th { font-weight: 400; white-space: normal; overflow-wrap: anywhere; min-width: 124px; \
    max-width: 40vw; }
    @media (max-width: 480px) {
      .bar { grid-template-columns: minmax(0, 104px) 1fr 84px; }
    }
    @media print {
      body { max-width: none; }
      figure, table, .figures div { break-inside: avoid; }
      .scroll { overflow: visible; }
    }
    """
}
