/// The kind of a conversation of the made-up corpus, with what people do in it.
///
/// Each kind is that of a source of the real corpus; all numbers are measured there, as
/// `docs/benchmark.md` says.
struct ConversationHabit {
  /// The lengths of texts in bytes.
  var lengths: Quantiles
  /// The share of messages that are one of a few set phrases.
  var phrases = 0.0
  /// The number of set phrases.
  var phraseCount = 1
  /// The chance that a message comes from the sender of the one before.
  var run = 0.0
  /// The chance that a message has the time of the one before.
  var equalTime = 0.0
  /// The step of its clock in milliseconds.
  var clockStep: Int64 = 1
  /// The share of messages that answer another one.
  var replies = 0.0
  /// The share of messages that begin with somebody's name.
  var mentions = 0.0
  var emoji = 0.0
  var links = 0.0
  /// The share of messages of several lines.
  var lines = 0.0
  /// True if many people write, coming and going.
  var isRoom = false
}

extension ConversationHabit {
  /// The one huge room, a public help channel whose log has minutes.
  static let channel = ConversationHabit(
    lengths: Quantiles([
      0: 1, 0.05: 4, 0.1: 9, 0.25: 22, 0.5: 43, 0.75: 76, 0.9: 124, 0.95: 167, 0.99: 274,
      0.999: 422, 1: 469,
    ]), phrases: 0.08, phraseCount: 400, run: 0.055, equalTime: 0.83, clockStep: 60_000,
    replies: 0.253, mentions: 0.42, links: 0.05, isRoom: true)

  /// Rooms of a team that writes long messages.
  static let team = ConversationHabit(
    lengths: Quantiles([
      0: 1, 0.05: 21, 0.1: 35, 0.25: 69, 0.5: 136, 0.75: 274, 0.9: 552, 0.95: 868, 0.99: 2040,
      0.995: 2692, 0.999: 5439, 1: 9740,
    ]), phrases: 0.01, phraseCount: 100, run: 0.3, equalTime: 0.002, clockStep: 1_000,
    replies: 0.03, mentions: 0.06, emoji: 0.03, links: 0.14, lines: 0.3, isRoom: true)

  /// Two people who talk about what they like.
  static let talk = ConversationHabit(
    lengths: Quantiles([
      0: 4, 0.05: 29, 0.1: 41, 0.25: 64, 0.5: 95, 0.75: 132, 0.9: 174, 0.95: 205, 0.99: 277,
      1: 631,
    ]), phrases: 0.02, phraseCount: 50)

  /// Two people, one of whom books something for the other.
  static let booking = ConversationHabit(
    lengths: Quantiles([
      0: 4, 0.05: 15, 0.1: 17, 0.25: 26, 0.5: 40, 0.75: 66, 0.9: 96, 0.95: 117, 0.99: 173, 1: 412,
    ]), phrases: 0.24, phraseCount: 3_000)

  /// Two people who tell each other of themselves.
  static let chat = ConversationHabit(
    lengths: Quantiles([
      0: 4, 0.05: 22, 0.1: 27, 0.25: 38, 0.5: 55, 0.75: 72, 0.9: 90, 0.95: 101, 0.99: 126, 1: 190,
    ]), phrases: 0.08, phraseCount: 200)

  /// Two people in a script of three bytes a character.
  static let guide = ConversationHabit(
    lengths: Quantiles([
      0: 6, 0.05: 15, 0.1: 21, 0.25: 36, 0.5: 63, 0.75: 98, 0.9: 132, 0.95: 153, 0.99: 198, 1: 561,
    ]), phrases: 0.2, phraseCount: 300)

  /// A question and an answer.
  static let question = ConversationHabit(
    lengths: Quantiles([
      0: 3, 0.05: 16, 0.1: 19, 0.25: 24, 0.5: 33, 0.75: 43, 0.9: 56, 0.95: 65, 0.99: 86, 1: 186,
    ]), phrases: 0.26, phraseCount: 1_500)

  /// A service that nearly always answers with one of its phrases.
  static let service = ConversationHabit(
    lengths: Quantiles([
      0: 2, 0.05: 7, 0.1: 12, 0.25: 17, 0.5: 35, 0.75: 63, 0.9: 96, 0.95: 162, 0.99: 168, 1: 168,
    ]), phrases: 0.8, phraseCount: 2_500, run: 0.022)
}
