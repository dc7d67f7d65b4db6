extension ConversationPage {
  /// Bubbles on the left and the right, and the same as plain lines on paper.
  static let style = """
    :root {
      --other: #f1f3f6; --own: #dcebff; --mark: #b3540a;
      --c0: #1d5fd1; --c1: #b3540a; --c2: #23783a; --c3: #8430c4; --c4: #b31f6f; --c5: #0f6f7d;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --other: #23272e; --own: #1d3a63; --mark: #f4a155;
        --c0: #7db0ff; --c1: #f4a155; --c2: #70cf8a; --c3: #c79bff; --c4: #ff8fc4; --c5: #6fd0de;
      }
    }
    body { max-width: 820px; }
    p { margin: 0; }
    header .note { margin: 0 0 4px; }
    h2 { position: sticky; top: 0; z-index: 1; margin: 20px 0 8px; padding: 6px 0; \
    font-size: 14px; text-align: center; background: var(--ground); color: var(--faint); }
    ol { list-style: none; margin: 0; padding: 0; display: flex; flex-direction: column; \
    gap: 6px; }
    ol > li { max-width: min(85%, 620px); min-width: 0; padding: 7px 12px; border-radius: 14px; \
    background: var(--other); align-self: flex-start; border: 1px solid transparent; \
    scroll-margin-top: 48px; }
    ol > .own { background: var(--own); align-self: flex-end; }
    ol > .for-me { border-color: var(--mark); }
    ol > .gap { align-self: stretch; max-width: none; background: none; border-radius: 0; \
    border: 0; border-block: 1px dashed var(--mark); color: var(--mark); text-align: center; \
    font-size: 13px; }
    ol > li:target { border-color: var(--link); }
    .name { font-weight: 600; font-size: 13px; }
    .c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); }
    .c3 { color: var(--c3); } .c4 { color: var(--c4); } .c5 { color: var(--c5); }
    .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; \
    clip-path: inset(50%); white-space: nowrap; }
    .text { white-space: pre-wrap; }
    .retracted { font-style: italic; color: var(--faint); }
    blockquote { margin: 2px 0 4px; padding: 2px 0 2px 8px; border-inline-start: 3px solid \
    var(--faint); font-size: 13px; color: var(--faint); }
    blockquote a { color: inherit; text-decoration: none; }
    blockquote a:hover { text-decoration: underline; }
    .beside, .files, .reactions { font-size: 13px; margin: 4px 0 0; padding: 0; }
    .files, .reactions { list-style: none; }
    .files li { border: 1px solid var(--line); border-radius: 8px; padding: 3px 8px; \
    margin-top: 3px; }
    .files small { color: var(--faint); }
    .reactions { display: flex; flex-wrap: wrap; gap: 4px; }
    .reactions li { border: 1px solid var(--line); border-radius: 10px; padding: 0 8px; \
    background: var(--ground); }
    footer { margin-top: 16px; }
    .foot { font-size: 11.5px; color: var(--faint); text-align: end; }
    .own .foot, .own blockquote, .own .files small, .own .code, .own .retracted { \
    color: var(--ink); }
    details { font-size: 13px; }
    summary { cursor: pointer; color: var(--link); }
    @media print {
      body { max-width: none; font-size: 11pt; }
      h2 { position: static; break-after: avoid; }
      ol > li { break-inside: avoid; max-width: 90%; border-color: #999999; }
      a { text-decoration: none; }
    }
    """
}
