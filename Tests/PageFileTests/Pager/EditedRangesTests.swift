import PageFile
import Simulation
import Testing

/// What is noted of a page's edits covers all of them, in ascending ranges.
struct EditedRangesTests {
  @Test func everyEditIsCovered() {
    var random = SeededGenerator(printedFor: #function)
    let account = ImageAccount()
    for _ in 0..<Scale.count(debug: 40, release: 300) {
      let image = PageImage(pageByteCount: 32768, account: account)
      defer { image.release() }
      var isEdited = [Bool](repeating: false, count: 32768)
      for _ in 0..<random.below(60) {
        let byteCount = random.below(random.below(8) == 0 ? 4000 : 30)
        let offset = random.below(32768 - byteCount + 1)
        image.edited.add(offset, byteCount)
        for place in offset..<offset + byteCount { isEdited[place] = true }
        expectCovered(isEdited, by: image.edited)
      }
    }
  }

  private func expectCovered(_ isEdited: [Bool], by edited: EditedRanges) {
    var end = 0
    for index in 0..<edited.count {
      let range = edited[index]
      #expect(range.lowerBound >= end && range.count > 0 && range.upperBound <= 32768)
      #expect(!isEdited[end..<range.lowerBound].contains(true))
      end = range.upperBound
    }
    #expect(!isEdited[end...].contains(true))
  }

  @Test func neighboursAreOneRange() {
    let image = PageImage(pageByteCount: 4096, account: ImageAccount())
    defer { image.release() }
    image.edited.add(100, 10)
    image.edited.add(90, 10)
    image.edited.add(120, 4)
    #expect(image.edited.count == 1 && image.edited[0] == 90..<124)
    image.edited.add(2000, 1)
    #expect(image.edited.count == 2 && image.edited[1] == 2000..<2001)
  }
}
