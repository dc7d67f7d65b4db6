import Damage
import MsgStore
import PageFile
import Testing

/// The golden stores of the newest version have each thing of the format, at least once: what
/// none of them has, no later version is known to read.
struct GoldenFieldsTests {
  /// What no store has that was closed, with the reason.
  private static let unreachable = [
    "word: comingMember": "set only between the commits of a first opening, see S-10"
  ]

  /// The store of a version, and those that were left in the middle of their work.
  private static let stores = [
    "version-\(GoldenMessageStore.newestVersion)", "expiring", "working",
  ]

  private static func fields(of name: String) throws -> Set<String> {
    let text = String(decoding: try GoldenMessageStore.contents("\(name).txt"), as: UTF8.self)
    return try StoredFields(StoreText.files(text, storeName: "store")).names
  }

  @Test func theNewestStoresHaveEverythingSet() throws {
    let all = StoredFields.all
    #expect(all.count > 250)
    var found: Set<String> = []
    for name in Self.stores { found.formUnion(try Self.fields(of: name)) }
    let missing = all.subtracting(found).subtracting(Self.unreachable.keys)
    #expect(missing.isEmpty, "set in no golden store: \(missing.sorted())")
    // Otherwise the list would lack something.
    let unlisted = found.subtracting(all)
    #expect(unlisted.isEmpty, "in no list: \(unlisted.sorted())")
    #expect(found.isDisjoint(with: Self.unreachable.keys))
  }

  /// Each of them is counted by its own name, and values that a name lists are counted apart.
  @Test func fieldsHaveTheNamesOfTheTables() throws {
    let names = FieldNames.all(of: SendFailure())
    #expect(names.contains("SendFailure: kind 3 permission"))
    #expect(names.contains("SendFailure: code") && names.contains("SendFailure: text, UTF-8"))
    var buffer = ByteBuffer()
    SendFailure(.permission, code: 403).append(to: &buffer)
    let set = FieldNames.set(in: SendFailure.self, buffer.bytes)
    let expected: Set = [
      "SendFailure: kind 3 permission", "SendFailure: 1 with a code, else 0", "SendFailure: code",
    ]
    #expect(set == expected)
    let cut = FieldNames.set(in: SendFailure.self, buffer.bytes.dropFirst(1))
    #expect(cut == nil)
  }
}
