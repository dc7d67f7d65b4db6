#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The words of one script and the habits of those who write them.
///
/// Words are built from syllables by their rank, so that there is no end of them: a seventh of the
/// words of real chat are not among the ten thousand most frequent ones. How often the frequent
/// ones come up, and how often one word follows another, is as measured; see `docs/benchmark.md`.
final class Vocabulary: Sendable {
  /// The frequent words, by rank.
  private let words: [String]
  private let syllables: [String]
  private let separator: String
  private let maximumSyllableCount: Int
  private let ranks: Ranks
  /// The chance that a word is one of the few that usually follow the word before.
  private let habit: Double
  private let seed: UInt64

  /// The share of words up to a rank, at powers of ten.
  struct Ranks {
    /// Shares up to rank 10, 100, 1,000 and 10,000; the rest reaches up to `count`.
    var shares: [Double]
    var count: Double

    func rank(at fraction: Double) -> Int {
      var (low, lowShare) = (1.0, 0.0)
      for (index, share) in (shares + [1]).enumerated() {
        let high = index < shares.count ? low * 10 : count
        if fraction <= share {
          return Int(low * exp((fraction - lowShare) / (share - lowShare) * log(high / low))) - 1
        }
        (low, lowShare) = (high, share)
      }
      return Int(count) - 1
    }
  }

  init(
    common: String = "", syllables: String, ranks: Ranks, maximumSyllableCount: Int,
    separator: String = " ", habit: Double, seed: UInt64
  ) {
    self.syllables = syllables.split(separator: " ").map(String.init)
    self.separator = separator
    self.maximumSyllableCount = maximumSyllableCount
    self.ranks = ranks
    self.habit = habit
    self.seed = seed
    var words = common.split(separator: " ").map(String.init)
    for rank in words.count..<10_000 {
      words.append(
        Self.word(rank, of: self.syllables, atMost: maximumSyllableCount, seed: seed))
    }
    self.words = words
  }

  private static func word(
    _ rank: Int, of syllables: [String], atMost maximum: Int, seed: UInt64
  ) -> String {
    var generator = SeededGenerator(seed: seed ^ UInt64(rank) &* 0x9E37_79B9)
    // Frequent words are short in every language.
    let reach = rank < 60 ? 1 : rank < 600 ? 2 : rank < 10_000 ? 3 : maximum
    var word = ""
    for _ in 0...generator.index(below: min(reach, maximum)) {
      word += syllables[generator.index(below: syllables.count)]
    }
    return word
  }

  private func word(_ rank: Int) -> String {
    rank < words.count
      ? words[rank]
      : Self.word(rank, of: syllables, atMost: maximumSyllableCount, seed: seed)
  }

  /// Returns the rank of a word that usually follows another.
  private func follower(of rank: Int, using generator: inout SeededGenerator) -> Int {
    // Eight followers, the first ones more often.
    let choice = Int(8 * generator.fraction() * generator.fraction())
    var chosen = SeededGenerator(seed: seed ^ UInt64(rank * 8 + choice) &* 0x2545_F491_4F6C_DD1D)
    return ranks.rank(at: chosen.fraction() * 0.9)
  }

  /// Returns text of exactly `byteCount` UTF-8 bytes, or of a few less where a character does not
  /// fit.
  func text(byteCount: Int, using generator: inout SeededGenerator) -> String {
    var text = ""
    text.reserveCapacity(byteCount + 24)
    var rank: Int?
    while text.utf8.count < byteCount {
      let isHabitual = generator.chance(habit)
      if let last = rank, isHabitual {
        rank = follower(of: last, using: &generator)
      } else {
        rank = ranks.rank(at: generator.fraction())
      }
      if !text.isEmpty { text += separator }
      text += word(rank ?? 0)
    }
    while text.utf8.count > byteCount, text.unicodeScalars.count > 1 {
      text.unicodeScalars.removeLast()
    }
    if text.hasSuffix(" ") {
      text.removeLast()
      text += generator.chance(0.5) ? "." : "?"
    }
    return text
  }

  /// Returns the name of a person, the same for the same number.
  func name(_ number: Int) -> String {
    let name = Self.word(100_000 + number * 3, of: syllables, atMost: 3, seed: seed &+ 7)
    return name.utf8.count < 4 ? name + String(number) : name
  }
}

extension Vocabulary {
  private static let latinSyllables = """
    ka to re mi so ne la tin ver com ing er al en ex pre dis un ta ble sh ch th or st pro con \
    ri de se ter man ous ful ment est an ar ic il o u y wa bo fi gu ha jo ky lo mu no pa qui
    """

  /// English words that every chat has most of.
  private static let common = """
    i you the to it a that and is of in have for on what not but yes no ok with just so this \
    be can do my if at me we are was like get know don't it's i'm will all there how one when \
    think go out up good see now then or your about here from they would want some need time \
    really well lol thanks hi hello why has more work any right back maybe sure did been where
    """

  /// Latin script as many people write it, with typing errors, names and words of a trade.
  static func wide(seed: UInt64) -> Vocabulary {
    Vocabulary(
      common: common, syllables: latinSyllables,
      ranks: Ranks(shares: [0.14, 0.34, 0.61, 0.82], count: 400_000), maximumSyllableCount: 6,
      habit: 0.3, seed: seed)
  }

  /// Latin script of dialogs about everyday things.
  static func plain(seed: UInt64) -> Vocabulary {
    Vocabulary(
      common: common, syllables: latinSyllables,
      ranks: Ranks(shares: [0.16, 0.4, 0.72, 0.94], count: 40_000), maximumSyllableCount: 5,
      habit: 0.4, seed: seed)
  }

  /// Another script.
  static func other(_ script: Script, seed: UInt64) -> Vocabulary {
    let isSpaced = !["han", "japanese", "thai"].contains(script.rawValue)
    return Vocabulary(
      syllables: script.syllables,
      ranks: Ranks(shares: [0.09, 0.28, 0.58, 0.9], count: 40_000),
      maximumSyllableCount: isSpaced ? 4 : 2, separator: isSpaced ? " " : "", habit: 0.5,
      seed: seed)
  }

  enum Script: String, CaseIterable {
    case hangul, han, japanese, cyrillic, arabic, hebrew, greek, devanagari, thai

    fileprivate var syllables: String {
      switch self {
      case .hangul:
        """
        안 녕 하 세요 오늘 내일 뭐 해 밥 먹 었 어 네 아니 고마 워 나 는 너 가 를 에서 좋 아 이 다 도 \
        은 기 지 요 면 을 고 게 사 람 거 같 있 없 그 것 수 말 시 간 마 음 들 잘 못 일 할 만 더 안 \
        되
        """
      case .han:
        """
        你 好 我 们 今 天 去 哪 里 吃 饭 吗 不 是 的 了 在 有 人 这 个 上 大 来 到 说 要 就 会 想 \
        店 酒 景 点 附 近 地 铁 价 格 评 分 推 荐 电 话 请 问 帮 家 能 可 以 谢 多 少 元 时 间 游 \
        玩 喜 欢 学 生 都 也 很 那 看 什 么 呢 吧 还
        """
      case .japanese:
        """
        こ ん に ち は 今日 明日 です ます か よ ね た い の を が 行 食べ 見 会 ありがとう 私 き し て \
        ら な も と まで から あ お る り 好 犬 仕事 本 ど う す 趣味 何 思 子 供
        """
      case .cyrillic:
        """
        при вет как де ла что не на я ты мы хо ро шо да нет по ка \
        зав тра сей час мо жет
        """
      case .arabic:
        """
        مر حبا كي فك ال يوم نعم لا شك را غدا في من هل أنت بخ ير إن \
        شاء الله
        """
      case .hebrew:
        """
        של ום מה נש מע כן לא תו דה אני את הם מח ר יו בו קר טוב ער ב
        """
      case .greek:
        """
        και το να με τη σου ει μαι κα λη με ρα τι κα νεις ό χι ναι \
        ευ χα ρι στώ πο λύ
        """
      case .devanagari:
        """
        न मस् ते आप कै से हैं हाँ न हीं ध न्य वाद कल मि ल ते में और \
        क्या
        """
      case .thai:
        """
        สวัส ดี ครับ ค่ะ ไป ไหน มา กิน ข้าว แล้ว ยัง ขอบ คุณ มาก \
        พรุ่ง นี้ เจอ กัน
        """
      }
    }
  }
}
