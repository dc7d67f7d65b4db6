public import Foundation

/// What an export of a store says that everybody in its conversations agrees on.
///
/// An export (`msgdump export`) says everything, also what is a matter of one device. Two clients that
/// have heard of the same things have the same export but for that:
///
/// - whose store it is, and where it is in the server's news;
/// - read marks: each store has its own member's, and those of the others as they were told;
/// - the state of a message, which the store of its sender knows, who is told of receipts, and whether
///   it was composed there or received, live or late;
/// - messages that the server does not have, those among them that were taken back before they left;
/// - when a message was taken back, which is by its sender's clock there, and by the server's elsewhere;
/// - where a file lies on the device, and how far it has come up or down;
/// - former names of a conversation, since when it is in the list, drafts, what is pinned or muted.
public struct SharedExport: Equatable, Sendable {
  /// One line for each record, in the order of the threads, conversation by conversation.
  public let lines: [String]

  private static let ownKinds: Set<String> = ["store", "sync", "receipt", "draft"]
  private static let ownFields: Set<String> = [
    "status", "composed", "arrival", "late", "seen", "receipts", "delivered_ms", "read_ms",
    "sequenced_ms", "deleted_ms", "retry_count", "local_path", "upload", "download", "aliases",
    "since_ms", "pinned",
    "pinned_ms", "muted", "muted_ms", "archived", "archived_ms",
  ]

  /// Reads an export.
  public init(_ export: Data) throws {
    var records: [(conversation: String, line: String)] = []
    for line in export.split(separator: UInt8(ascii: "\n")) {
      guard let record = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
        !Self.ownKinds.contains(record["kind"] as? String ?? "message")
      else { continue }
      if let time = record["timestamp_ms"], time is NSNull { continue }
      let shared = try JSONSerialization.data(
        withJSONObject: Self.shared(record), options: [.sortedKeys, .withoutEscapingSlashes])
      records.append(
        (
          record["conversation"] as? String ?? record["id"] as? String ?? "",
          String(decoding: shared, as: UTF8.self)
        ))
    }
    // Each store lists conversations in the order in which it came to know them.
    let order = records.indices.sorted {
      (records[$0].conversation, $0) < (records[$1].conversation, $1)
    }
    lines = order.map { records[$0].line }
  }

  private static func shared(_ value: Any) -> Any {
    if let values = value as? [Any] { return values.map(shared) }
    guard let fields = value as? [String: Any] else { return value }
    return fields.filter { !ownFields.contains($0.key) }.mapValues(shared)
  }
}
