extension MapPage {
  /// The colours of the kinds of slots: hues that the colour-blind tell apart (Okabe and Ito),
  /// darker on a light ground, and hatched where a kind is no leaf.
  static let style = """
    :root {
      --messages: #0b63b0; --ids: #b85c00; --facts: #007a5e; --people: #a23b7d;
      --index: #4aa3d8; --rest: #857400; --branch: #3d4350; --overflow: #5b3fa0;
      --table: #6b7280; --bad: #b3001b;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --messages: #5aa9f0; --ids: #f0a040; --facts: #3fc79a; --people: #e58cc3;
        --index: #b5e0f7; --rest: #e3d35a; --branch: #d5d9e0; --overflow: #b79cf5;
        --table: #949cab; --bad: #ff6b6b;
      }
    }
    .map { max-height: 90vh; }
    .k-messages { fill: var(--messages); } .k-ids { fill: var(--ids); }
    .k-facts { fill: var(--facts); } .k-people { fill: var(--people); }
    .k-index { fill: var(--index); } .k-rest { fill: var(--rest); }
    .k-table { fill: var(--table); }
    .k-branch { fill: url(#hatch-branch); } .k-overflow { fill: url(#hatch-overflow); }
    .k-freed { fill: url(#hatch-freed); } .k-unreached { fill: url(#hatch-unreached); }
    .k-unreadable { fill: url(#hatch-unreadable); }
    .k-free { fill: var(--ground); stroke: var(--faint); stroke-width: 0.08; }
    .s0 { fill-opacity: 0.4; } .s1 { fill-opacity: 0.6; } .s2 { fill-opacity: 0.8; }
    .hatch-branch-ground { fill: var(--branch); fill-opacity: 0.35; }
    .hatch-branch-line { stroke: var(--branch); stroke-width: 0.22; }
    .hatch-overflow-ground { fill: var(--overflow); fill-opacity: 0.35; }
    .hatch-overflow-line { stroke: var(--overflow); stroke-width: 0.22; }
    .hatch-freed-ground { fill: var(--ground); }
    .hatch-freed-line { stroke: var(--table); stroke-width: 0.12; }
    .hatch-unreached-ground { fill: var(--ground); }
    .hatch-unreached-line { stroke: var(--ink); stroke-width: 0.08; }
    .hatch-unreadable-ground { fill: var(--bad); }
    .hatch-unreadable-line { stroke: var(--ground); stroke-width: 0.08; }
    .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 14px; \
    margin: 10px 0 0; padding: 0; font-size: 12.5px; }
    .legend li { display: flex; align-items: center; gap: 5px; }
    .swatch { width: 12px; height: 12px; flex: none; }
    """
}
