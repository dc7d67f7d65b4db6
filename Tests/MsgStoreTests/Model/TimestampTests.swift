import MsgStore
import Testing

/// Times in every unit, to both ends, without a trap.
struct TimestampTests {
  @Test func wholeUnitsSaturate() {
    #expect(Timestamp(milliseconds: -3) == time(-3000))
    #expect(Timestamp(seconds: 2) == time(2_000_000))
    let optional: Timestamp? = Timestamp(seconds: 2)
    #expect(optional == time(2_000_000))
    for (low, high) in [
      (Timestamp(milliseconds: .min), Timestamp(milliseconds: Int64.max)),
      (Timestamp(seconds: .min), Timestamp(seconds: Int64.max)),
    ] {
      #expect(low == time(.min) && high == time(.max))
    }
  }

  @Test func fractionsAreExactToTheMicrosecond() {
    #expect(Timestamp(milliseconds: 1_704_067_200_000.123) == time(1_704_067_200_000_123))
    #expect(Timestamp(seconds: 1_704_067_200.000123) == time(1_704_067_200_000_123))
    #expect(Timestamp(milliseconds: -0.001) == time(-1))
    #expect(Timestamp(milliseconds: -1.5) == time(-1500))
    #expect(Timestamp(seconds: 0.0000005) == time(1))
    #expect(Timestamp(seconds: -0.0000005) == time(0))
    #expect(Timestamp(seconds: 0.9999999) == time(1_000_000))
    for microseconds in stride(from: Int64(1_704_067_200_000_000), to: 1_704_067_200_002_000, by: 1)
    {
      #expect(Timestamp(milliseconds: Double(microseconds) / 1000) == time(microseconds))
      #expect(Timestamp(seconds: Double(microseconds) / 1_000_000) == time(microseconds))
      #expect(time(microseconds).secondsSince1970 == Double(microseconds) / 1_000_000)
    }
  }

  @Test func whatIsNoTimeIsNoneAndWhatIsTooFarIsTheLast() {
    for number in [Double.nan, .infinity, -.infinity, .signalingNaN] {
      #expect(Timestamp(milliseconds: number) == nil && Timestamp(seconds: number) == nil)
    }
    for number in [Double.greatestFiniteMagnitude, 1e300, 9.3e18] {
      #expect(Timestamp(milliseconds: number) == time(.max))
      #expect(Timestamp(seconds: number) == time(.max))
      #expect(Timestamp(milliseconds: -number) == time(.min))
      #expect(Timestamp(seconds: -number) == time(.min))
    }
    #expect(Timestamp(seconds: 9_223_372_036_854.775) == time(9_223_372_036_854_775_391))
    #expect(Timestamp(seconds: 9_223_372_036_855.5) == time(.max))
  }

  @Test func millisecondsAreRoundedDown() {
    #expect(
      [1999, 1000, 999, 0, -1, -1000, -1001].map { time($0).millisecondsSince1970 } == [
        1, 1, 0, 0, -1, -1, -2,
      ])
    #expect(time(.min).millisecondsSince1970 == -9_223_372_036_854_776)
    #expect(time(.max).millisecondsSince1970 == 9_223_372_036_854_775)
  }
}
