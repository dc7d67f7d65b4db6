#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The words of one script, drawn by Zipf's law as in natural text.
///
/// Apart from a few real ones, the words are built from syllables: text drawn from a short list of
/// words would compress far better than real chat does.
struct Vocabulary {
  private let words: [String]
  private let separator: String

  /// Makes `count` words, each of one to `maximumSyllableCount` syllables.
  init(
    common: String = "", syllables: String, count: Int, maximumSyllableCount: Int,
    separator: String = " ", using generator: inout SeededGenerator
  ) {
    var words = common.split(separator: " ").map(String.init)
    let syllables = syllables.split(separator: " ")
    while words.count < count {
      // Frequent words are short in every language.
      let reach =
        1 + min(maximumSyllableCount - 1, words.count * maximumSyllableCount / (count / 4))
      var word = ""
      for _ in 0...generator.index(below: reach) {
        word += syllables[generator.index(below: syllables.count)]
      }
      words.append(word)
    }
    self.words = words
    self.separator = separator
  }

  /// Returns text of about `byteCount` UTF-8 bytes.
  func text(byteCount: Int, using generator: inout SeededGenerator) -> String {
    var text = ""
    text.reserveCapacity(byteCount + 24)
    repeat {
      if !text.isEmpty { text += separator }
      let rank = exp(generator.fraction() * log(Double(words.count)))
      text += words[min(Int(rank) - 1, words.count - 1)]
    } while text.utf8.count < byteCount - 2
    if generator.chance(0.3) { text += generator.chance(0.5) ? "?" : "." }
    return text
  }
}

extension Vocabulary {
  /// Returns all vocabularies.
  ///
  /// The first is Latin, used by most threads; the others are in no particular order.
  static func all(using generator: inout SeededGenerator) -> [Vocabulary] {
    let latin = Vocabulary(
      common: """
        i you the to it a that and is of in have for on what not but yes no ok with just so this \
        be can do my if at me we are was like get know don't it's i'm will all there how one when \
        think go out up good see now then or your about here from they would want some need time \
        really well lol thanks hi hello why has more work any right back maybe sure did been where
        """,
      syllables: """
        ka to re mi so ne la tin ver com ing er al en ex pre dis un ta ble sh ch th or st pro con \
        ri de se ter man ous ful ment est an ar ic il o u y wa bo fi gu ha jo ky lo mu no pa qui
        """,
      count: 12_000, maximumSyllableCount: 4, using: &generator)
    let others: [(syllables: String, maximumSyllableCount: Int, separator: String)] = [
      ("при вет как де ла что не на я ты мы хо ро шо да нет по ка зав тра сей час мо жет", 4, " "),
      ("και το να με τη σου ει μαι κα λη με ρα τι κα νεις ό χι ναι ευ χα ρι στώ πο λύ", 4, " "),
      ("مر حبا كي فك ال يوم نعم لا شك را غدا في من هل أنت بخ ير إن شاء الله", 3, " "),
      ("של ום מה נש מע כן לא תו דה אני את הם מח ר יו בו קר טוב ער ב", 3, " "),
      ("न मस् ते आप कै से हैं हाँ न हीं ध न्य वाद कल मि ल ते में और क्या", 3, " "),
      ("สวัส ดี ครับ ค่ะ ไป ไหน มา กิน ข้าว แล้ว ยัง ขอบ คุณ มาก พรุ่ง นี้ เจอ กัน", 3, ""),
      ("你 好 我 们 今 天 去 哪 里 吃 饭 吗 不 是 的 了 在 有 人 这 个 上 大 来 到 说 要 就 会 想", 2, ""),
      ("こ ん に ち は 今日 明日 です ます か よ ね た い の を が 行 食べ 見 会 ありがとう", 3, ""),
      ("안 녕 하 세요 오늘 내일 뭐 해 밥 먹 었 어 네 아니 고마 워 나 는 너 가 를 에서 좋 아", 3, " "),
    ]
    return [latin]
      + others.map { script in
        Vocabulary(
          syllables: script.syllables, count: 2_000,
          maximumSyllableCount: script.maximumSyllableCount,
          separator: script.separator, using: &generator)
      }
  }
}
