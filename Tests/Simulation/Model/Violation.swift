/// A promise that was not kept.
package struct Violation: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// What is there is not the state after any commit.
    case noCommit
    /// It is the state before a commit that was promised.
    case lostCommit
    /// A state cannot be opened or read.
    case notReadable
    /// The check of all pages has found something.
    case finding
    /// A read has given something else than what was written.
    case wrongAnswer
    /// It can be read and not be written.
    case notWritable
    /// The store goes on being written after it was poisoned.
    case notPoisoned
    /// On a full disk nothing can be deleted.
    case noReserve
    /// A call failed without a reason.
    case unexpectedError
    /// A file was used after it was closed, or closed twice, or is still open.
    case misuse
  }

  package var kind: Kind
  package var detail: String

  package init(_ kind: Kind, _ detail: String) {
    self.kind = kind
    self.detail = detail
  }

  package var description: String { "\(kind): \(detail)" }
}
