/// The names of a directory and the files they lead to, in the order of the names.
struct NameTable: Sendable {
  private(set) var entries: [(name: String, inode: Int)] = []

  subscript(name: String) -> Int? {
    get { entries.first { $0.name == name }?.inode }
    set {
      entries.removeAll { $0.name == name }
      guard let newValue else { return }
      let index = entries.firstIndex { $0.name > name } ?? entries.count
      entries.insert((name, newValue), at: index)
    }
  }
}
