extension Report {
  /// The style sheet, with one set of colours for light and one for dark.
  ///
  /// Each engine has a colour of its own, with the contrast to the background that text needs.
  static let style = """
    :root {
      color-scheme: light dark;
      --ground: #ffffff; --card: #f6f7f9; --ink: #16181d; --faint: #5b6270; --line: #d9dde4;
      --msgstore: #1d5fd1; --sqlite: #b3540a; --grdb: #23783a; --grdb-codable: #7a7000;
      --lmdb: #8430c4; --lmdb-bytes: #c0267a; --limit: #5b6270;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #14161a; --card: #1e2127; --ink: #eceef2; --faint: #a3abb9; --line: #363b45;
        --msgstore: #7db0ff; --sqlite: #f4a155; --grdb: #70cf8a; --grdb-codable: #d8cc5a;
        --lmdb: #c79bff; --lmdb-bytes: #ff8fc4; --limit: #a3abb9;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0 auto; padding: 16px; max-width: 1200px; background: var(--ground);
      color: var(--ink); font: 15px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif;
      -webkit-text-size-adjust: 100%;
    }
    h1 { font-size: 24px; line-height: 1.2; margin: 8px 0 12px; }
    h2 { font-size: 19px; margin: 32px 0 4px; }
    .note { color: var(--faint); font-size: 13px; margin: 0 0 8px; overflow-wrap: anywhere; }
    .cards { display: grid; gap: 12px; \
    grid-template-columns: repeat(auto-fill, minmax(min(100%, 360px), 1fr)); }
    figure { margin: 0; padding: 12px; background: var(--card); border-radius: 10px; min-width: 0; }
    figcaption { font-weight: 600; margin-bottom: 6px; overflow-wrap: anywhere; }
    figcaption small { display: block; font-weight: 400; font-size: 13px; color: var(--faint); }
    .row { display: grid; grid-template-columns: 88px 1fr 104px 52px; align-items: center; }
    .row span, .row b { font-size: 12.5px; line-height: 20px; white-space: nowrap; }
    .row b { text-align: right; font-weight: 400; font-variant-numeric: tabular-nums; }
    .row small { font-size: 12px; text-align: right; color: var(--faint); }
    .row.best b { font-weight: 700; }
    .row.best b::before { content: "✓ "; }
    .doubts { border-left: 3px solid var(--sqlite); padding: 4px 12px; margin: 8px 0; }
    .doubts p, .doubts ul { margin: 0; }
    .row svg { display: block; width: 100%; height: 20px; overflow: visible; }
    svg text { fill: var(--faint); font-size: 11px; text-anchor: middle; }
    svg .above { text-anchor: start; transform: translateY(-3px); }
    .grid { stroke: var(--line); stroke-width: 1; }
    .engine circle, .engine rect { fill: var(--colour); }
    .engine .path { stroke: var(--colour); stroke-width: 2; }
    .engine span { color: var(--colour); }
    .msgstore, .msgstore-encrypted { --colour: var(--msgstore); }
    .sqlite, .sqlcipher { --colour: var(--sqlite); }
    .grdb { --colour: var(--grdb); } .grdb-codable { --colour: var(--grdb-codable); }
    .lmdb { --colour: var(--lmdb); } .lmdb-bytes { --colour: var(--lmdb-bytes); }
    .limit { --colour: var(--limit); }
    .lines { display: block; width: 100%; height: 220px; overflow: visible; }
    .sizes { display: block; width: 100%; height: 20px; overflow: visible; }
    .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 8px 0 0; \
    padding: 0; font-size: 12.5px; }
    .legend i { display: inline-block; width: 10px; height: 10px; border-radius: 5px; \
    margin-right: 5px; background: var(--colour); }
    .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 10px; }
    table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 13px; \
    font-variant-numeric: tabular-nums; }
    th, td { padding: 6px 10px; text-align: right; white-space: nowrap; vertical-align: top; \
    border-bottom: 1px solid var(--line); }
    tbody tr:last-child > * { border-bottom: 0; }
    th:first-child { text-align: left; position: sticky; left: 0; background: var(--card); }
    th { font-weight: 600; }
    tbody th { white-space: normal; overflow-wrap: anywhere; min-width: 112px; max-width: 34vw; }
    td small { display: block; color: var(--faint); font-size: 11.5px; }
    td.best { font-weight: 700; }
    td.best small, tbody th small { font-weight: 400; }
    tbody th small { display: block; color: var(--faint); }
    dl { margin: 0; font-size: 13px; }
    dt { font-weight: 600; margin-top: 8px; }
    dd { margin: 0; color: var(--faint); overflow-wrap: anywhere; }
    """
}
