import MsgStore
import MsgStoreTools
import Testing

/// What is written is read back the same, and is written in one way only.
struct JSONRoundTripTests {
  @Test func recordsSurviveARoundTrip() throws {
    let odd = (0..<0x100).compactMap { Unicode.Scalar($0).map(String.init) }.joined() + "\u{10ffff}"
    let message = Message(
      id: MessageID(odd), in: "c", from: MemberID(odd), text: odd + odd,
      localTime: Timestamp(microseconds: 1_234_567),
      serverTimestamp: Timestamp.plausibleRange.upperBound, sequence: .max, status: .failed,
      replyTo: MessageID(odd))
    let written: [JSONRecord] = [
      .store(JSONStore(localMember: "änn")),
      .conversation(conversation("c", participants: ["a", "b\"", ""], title: "\\")),
      .conversation(conversation("d", participants: [], title: nil)),
      .receipt(JSONReceipt("c", upTo: .message("m"))), .receipt(JSONReceipt("c", upTo: nil)),
      .message(ExportedMessage(message)),
      .message(ExportedMessage(Message(id: "n", in: "c", from: "a", text: ""))),
    ]
    let text = lines(of: written)
    let back = try records(of: text)
    #expect(back == written)
    #expect(lines(of: back) == text)
  }

  private func conversation(
    _ id: ConversationID, participants: [MemberID], title: String?
  ) -> ExportedConversation {
    var conversation = ExportedConversation()
    conversation.id = id
    conversation.participants = participants
    conversation.title = title
    return conversation
  }

  @Test func linesAreWrittenInOneWay() {
    let message = Message(
      id: "m", in: "c", from: "s", text: "a\"\\/\n\r\t\u{1}\u{1f}é\u{7f}",
      localTime: Timestamp(microseconds: 1_704_067_200_000_120),
      serverTimestamp: Timestamp(milliseconds: 1_704_067_200_000), sequence: 7, status: .read,
      replyTo: "r")
    #expect(
      lines(of: [.message(ExportedMessage(message))])
        == #"{"kind":"message","conversation":"c","id":"m","sender":"s","#
        + #""text":"a\"\\/\n\r\t\u0001\u001fé\u007f","timestamp_ms":1704067200000,"#
        + #""sequence":7,"local_ms":1704067200000.12,"status":"read","reply_to":"r"}"# + "\n")
    #expect(
      lines(of: [.message(ExportedMessage(Message(id: "m", in: "c", from: "s", text: "t")))])
        == #"{"kind":"message","conversation":"c","id":"m","sender":"s","text":"t","timestamp_ms":null}"#
        + "\n")
  }

  @Test(arguments: [
    (Int64(0), "0"), (1, "0.001"), (-1, "-0.001"), (1000, "1"), (-1500, "-1.5"), (10_010, "10.01"),
    (.max, "9223372036854775.807"), (.min, "-9223372036854775.808"),
  ])
  func timesAreWrittenWithoutLoss(microseconds: Int64, expected: String) {
    let message = Message(
      id: "m", in: "c", from: "s", text: "t",
      serverTimestamp: Timestamp(microseconds: microseconds))
    #expect(
      lines(of: [.message(ExportedMessage(message))]).contains(#""timestamp_ms":\#(expected)}"#))
  }

  /// A message must not draw on the terminal on which an export is shown.
  @Test func whatWouldChangeATerminalIsEscaped() throws {
    let escaped: [ClosedRange<UInt32>] = [
      0...0x1f, 0x7f...0x9f, 0x2028...0x202e, 0x2066...0x2069,
    ]
    let scalars = [0...0x200, 0x1fff...0x2070, 0xe000...0xe00a, 0xfffd...0x10002]
      .joined().compactMap { Unicode.Scalar(UInt32($0)) }
    for scalar in scalars {
      var bytes: [UInt8] = []
      JSONLineWriter.append("a\(scalar)\(scalar)é", to: &bytes)
      let text = String(decoding: bytes, as: UTF8.self)
      let isEscaped = escaped.contains { $0.contains(scalar.value) }
      #expect(text.unicodeScalars.contains(scalar) == !isEscaped)
      if isEscaped, !["\n", "\r", "\t"].contains(scalar) {
        let digits = String(scalar.value, radix: 16)
        let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        #expect(text == "\"a" + escape + escape + "é\"")
      }
    }
  }
}
