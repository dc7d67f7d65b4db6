package import MsgStore

extension MessageStore {
  /// Packs everything with a new dictionary: texts of random acts.
  package func packAnew(with number: UInt32) throws {
    let texts = (0..<50).map { "text \($0)" } + ["long text long text "]
    let bytes = Array("\(number) \(texts.joined())".utf8)
    try write { try $0.addDictionary(bytes, number: number) }
    try compact()
  }
}
