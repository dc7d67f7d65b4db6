import MsgStore
import MsgStoreTools

/// The short conversations of the sample chat: many scripts, and every oddity of text.
enum SampleScripts {
  /// 2 March 2026, in the morning.
  private static let begin: Int64 = 1_772_438_400_000_000
  private static let hour: Int64 = 3_600_000_000
  private static let day: Int64 = 24 * hour

  static let conversations: [SampleScript] = [
    bob, family, kite, layla, noam, masha, asha, yuki, chen, somchai, marks,
  ]

  private static let bob = SampleScript(
    id: "bob", participants: ["ann", "bob"], begin: begin + 9 * day + 10 * hour,
    draft: "If I ever get there,", marks: .pinned,
    lines: [
      SampleLine("bob", "Are you on the 17:40?"),
      SampleLine("ann", "Yes, last carriage. It is packed 🙈", status: .read) { message in
        message.edit(after: "Yes, first carriage. It is packed 🙈")
        message.facts.receipts = [read(by: "bob", 30_000_000, after: message)]
      },
      SampleLine("bob", "I kept you a seat at the back", pause: 12_000_250) { message in
        message.facts.attachments = [photo(of: "seat", id: "p1")]
        message.react("❤️", by: "ann")
        message.react("😂", by: "bob")
      },
      SampleLine("ann", "You are a treasure", status: .delivered, replyTo: 2),
      SampleLine("ann", "Train stands still. No idea why.", status: .held) { message in
        message.retryCount = 2
        message.failure = SendFailure(.noConnection, text: "The network is unreachable")
      },
      SampleLine("ann", "Moving again!", status: .held),
      // Written within one tick of the device's clock; the order of writing counts.
      SampleLine("ann", "There in ten minutes 🚆", pause: 0, status: .held),
    ])

  private static let family = SampleScript(
    id: "family", participants: ["ann", "jonas", "ruth", "ole"], title: "Familie ❤️",
    begin: begin + 8 * day, unreadCount: 3,
    lines: [
      SampleLine("ruth", "Wer kommt am Sonntag zum Essen?"),
      SampleLine("jonas", "Ich! Und ich bringe Streuselkuchen mit 🥧"),
      SampleLine("ann", "Bin dabei 🙋🏽‍♀️ Soll ich Brötchen holen?", status: .read),
      SampleLine("ole", "👨‍👩‍👧‍👦"),
      // Three phones answered within one tick of the server's clock.
      SampleLine("ruth", "Ja bitte, zwölf Stück", replyTo: 2),
      SampleLine("jonas", "Für mich Mohn!", pause: 0) { $0.react("👍🏽", by: "ruth") },
      SampleLine("ole", "Für mich auch 😋", pause: 0),
    ])

  private static let kite = SampleScript(
    id: "project-kite", participants: ["ann", "bob", "chen", "masha", "yuki"],
    title: "Project Kite 🪁", begin: begin + 7 * day, unreadCount: 1, marks: .muted,
    lines: [
      SampleLine("masha", "The altitude filter drifts after about an hour. Anybody else?"),
      SampleLine("bob", "Same here. I think we sum small numbers into a large one."),
      SampleLine("bob", "") { $0.takeBack() },
      SampleLine(
        "chen",
        """
        Try this:
        ```swift
        var sum = 0.0, lost = 0.0
        for value in samples {
          let corrected = value - lost
          let next = sum + corrected
          lost = (next - sum) - corrected   // what did not fit
          sum = next
        }
        ```
        It keeps the "lost" part, so \\n nothing drifts.
        """, replyTo: 1),
      SampleLine("masha", "Drift is gone. Thank you! 🎉", replyTo: 3),
      SampleLine("ann", "Adding a test for it today.", status: .sent),
      SampleLine(
        "yuki",
        String(
          repeating: "The flight report of the long run, in one piece, as the logger wrote it: "
            + "wind steady, line taut, camera on, battery good. ", count: 60)
      ) { $0.mentions = ["ann", "bob"] },
    ])

  private static let layla = SampleScript(
    id: "layla", participants: ["ann", "layla"], begin: begin + 6 * day,
    lines: [
      SampleLine("layla", "صباح الخير! هل وصلتِ إلى البيت؟"),
      SampleLine("ann", "نعم، وصلت قبل ساعة ☕️", status: .read),
      SampleLine("layla", "موعدنا في الساعة 5:30 عند مقهى Café Noor، لا تنسي"),
      SampleLine("ann", "بالتأكيد، إلى اللقاء", status: .delivered),
    ])

  private static let noam = SampleScript(
    id: "noam", participants: ["ann", "noam"], begin: begin + 5 * day,
    lines: [
      SampleLine("noam", "שלום! קראת את הפרק השלישי?"),
      SampleLine("ann", "עוד לא, אני רק בעמוד 42 📖", status: .read),
      SampleLine("noam", "בלי ספוילרים אז… אבל תמהרי"),
    ])

  private static let masha = SampleScript(
    id: "masha", participants: ["ann", "masha"], begin: begin + 4 * day,
    lines: [
      SampleLine("masha", "Привет! Как прошла поездка?"),
      SampleLine("ann", "Отлично, в горах ещё лежит снег ⛷️", status: .read),
      SampleLine("masha", "Завидую. Пришли фотографии, пожалуйста"),
      SampleLine("ann", "Вечером пришлю", status: .read, replyTo: 2),
    ])

  private static let asha = SampleScript(
    id: "asha", participants: ["ann", "asha"], begin: begin + 3 * day, unreadCount: 1,
    lines: [
      SampleLine("asha", "नमस्ते! कल की बैठक कितने बजे है?"),
      SampleLine("ann", "सुबह दस बजे, दूसरी मंज़िल पर", status: .delivered),
      SampleLine("asha", "ठीक है, धन्यवाद 🙏🏾"),
    ])

  private static let yuki = SampleScript(
    id: "yuki", participants: ["ann", "yuki"], begin: begin + 2 * day,
    lines: [
      SampleLine("yuki", "明日の読書会、何時からだっけ？"),
      SampleLine("ann", "七時からです。お菓子を持っていきますね🍡", status: .read),
      SampleLine("yuki", "やったー！ｶﾞﾝﾊﾞﾘﾏｽ"),
    ])

  private static let chen = SampleScript(
    id: "chen", participants: ["ann", "chen"], begin: begin + day,
    lines: [
      SampleLine("chen", "你看过我发的草稿了吗？"),
      SampleLine("ann", "看了，第二段写得特别好！", status: .read),
      SampleLine("chen", "谢谢🙏 𠮷野家见，我请客"),
    ])

  private static let somchai = SampleScript(
    id: "somchai", participants: ["ann", "somchai"], begin: begin, marks: .archived,
    lines: [
      SampleLine("somchai", "สวัสดีครับ พรุ่งนี้ว่างไหม"),
      SampleLine("ann", "ว่างค่ะ เจอกันที่น้ำตกตอนบ่าย", status: .read),
      SampleLine("somchai", "ได้เลย เอาร่มไปด้วยนะ ☔️"),
    ])

  /// Text that looks alike but differs, or is more than it looks.
  private static let marks = SampleScript(
    id: "marks", participants: ["ann", "typographer"], title: "Diacritics & co.",
    begin: begin - day,
    lines: [
      SampleLine("typographer", "Caf\u{e9} and cafe\u{301} are spelled with different bytes."),
      SampleLine("typographer", "Tiếng Việt, Ελληνικά, ქართული, հայերեն, 한국어, አማርኛ"),
      SampleLine("typographer", "Stacked: a\u{300}\u{301}\u{302}\u{303}\u{304} e\u{323}\u{307}"),
      SampleLine("typographer", "Flags 🇩🇪🇯🇵🇧🇷 and a pirate's 🏴‍☠️, keycap 7️⃣, skin tones 👋🏻👋🏿"),
      SampleLine(
        "typographer", "Quotes \"both\" 'kinds', a backslash \\, a tab\there, <tags> & {json}"),
      SampleLine("typographer", " blanks around "),
      SampleLine("ann", "✔", status: .read, replyTo: 0),
    ])
}
