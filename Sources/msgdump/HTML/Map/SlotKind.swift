import MsgStore
package import PageFile

/// The kinds of slots that the map tells apart: few enough for colours that can be told apart.
///
/// Leaf pages are shown by what their tree holds, all other pages by their kind.
package enum SlotKind: Int, CaseIterable, Sendable {
  case messages
  case ids
  case facts
  case people
  case index
  case rest
  case branch
  case overflow
  case table
  case free
  case freed
  case unreached
  case unreadable

  /// Creates the kind of a slot that has a state.
  package init(_ state: SlotState) {
    self =
      switch state.use {
      case .leaf: SlotKind(tree: state.tree)
      case .branch: .branch
      case .overflow: .overflow
      case .table: .table
      case .freed: .freed
      case .unreached: .unreached
      case .unreadable: .unreadable
      }
  }

  /// Creates the kind of the leaf pages of a tree.
  package init(tree: Int?) {
    self =
      switch tree.map({ TreeNumber($0) }) {
      case Schema.messages?: .messages
      case Schema.ids?: .ids
      case Schema.facts?: .facts
      case Schema.names?, Schema.conversations?, Schema.activity?, Schema.directory?,
        Schema.retention?:
        .people
      case Schema.index?, Schema.expiry?: .index
      default: .rest
      }
  }

  /// The name in the legend.
  package var name: String {
    switch self {
    case .messages: "messages"
    case .ids: "ids of messages"
    case .facts: "facts about messages"
    case .people: "conversations and members"
    case .index: "index"
    case .rest: "settings, work, and other"
    case .branch: "branch pages"
    case .overflow: "overflow pages"
    case .table: "page table"
    case .free: "free"
    case .freed: "freed in the log"
    case .unreached: "in no tree"
    case .unreadable: "unreadable"
    }
  }

  /// The class that gives a part of a picture the colour of the kind.
  package var style: String { "k-\(self)" }

  /// True if the pages of the kind have a fill.
  package var hasFill: Bool {
    switch self {
    case .free, .freed, .unreadable: false
    default: true
    }
  }
}
