import Testing
import msgstore_bench

/// Numbers as people read them.
struct NumberTests {
  @Test func durationsHaveTheUnitThatSuitsThem() {
    #expect(Number.duration(186.4) == "186 ns")
    #expect(Number.duration(8_530) == "8.53 µs")
    #expect(Number.duration(32_580_000) == "32.58 ms")
    #expect(Number.roundDuration(100) == "100 ns")
    #expect(Number.roundDuration(1_000) == "1 µs")
    #expect(Number.roundDuration(1e8) == "100 ms")
    #expect(Number.roundDuration(1e9) == "1 s")
  }

  @Test func thousandsStandApart() {
    #expect(
      [0, 999, 1_000, 123_456, 10_000_000, -1_234].map(Number.grouped) == [
        "0", "999", "1,000", "123,456", "10,000,000", "-1,234",
      ])
  }

  @Test func fractionsAreRoundedAwayFromZero() {
    #expect(Number.text(0.005, digits: 2) == "0.01")
    #expect(Number.text(-0.005, digits: 2) == "-0.01")
    #expect(Number.text(2.5, digits: 0) == "3")
    #expect(Number.text(1_234.04, digits: 1) == "1234.0")
  }

  @Test func columnsAreAligned() {
    var table = TextTable(header: ["", "a", "long"])
    table.add(["first", "12 µs", ""])
    table.add(["x", "", "1"])
    #expect(table.text == "           a  long\nfirst  12 µs\nx                1\n")
  }
}
