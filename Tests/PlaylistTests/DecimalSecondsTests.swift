import TestSupport
import Testing

@testable import Support

private let attosecond = Duration(secondsComponent: 0, attosecondsComponent: 1)

private let readRows: [(text: String, duration: Duration?)] = [
    ("6", .seconds(6)),
    ("6.006", .milliseconds(6006)),
    ("6.", .seconds(6)),
    (".5", .milliseconds(500)),
    ("006.10", .milliseconds(6100)),
    ("0", .zero),
    ("0.000000000000000001", attosecond),
    ("0.0000000000000000019", attosecond),
    ("9999999999", .seconds(9_999_999_999)),
    ("00000000000000000001", .seconds(1)),
    ("10000000000", nil),
    ("", nil),
    (".", nil),
    ("-1", nil),
    ("+1", nil),
    ("1e3", nil),
    ("1,5", nil),
    ("1.5.1", nil),
    ("6 ", nil),
    ("NaN", nil),
    ("٣", nil),
]

@Test(arguments: readRows)
func parsesDecimalSeconds(text: String, duration: Duration?) {
    #expect(DecimalSeconds.duration(text) == duration)
    #expect(DecimalSeconds.duration("-" + text, isSigned: true) == (text == "-1" ? nil : duration.map { .zero - $0 }))
}

private let writeRows: [(duration: Duration, decimals: Int, text: String)] = [
    (.milliseconds(6006), 5, "6.00600"),
    (.seconds(6), 5, "6.00000"),
    (.seconds(6), 0, "6"),
    (.milliseconds(6500), 0, "7"),
    (.microseconds(6_000_004), 5, "6.00000"),
    (.microseconds(6_000_005), 5, "6.00001"),
    (.microseconds(9_999_995), 5, "10.00000"),
    (.microseconds(-1_000_005), 5, "-1.00001"),
    (.microseconds(-1), 5, "0.00000"),
    (attosecond, 18, "0.000000000000000001"),
]

@Test(arguments: writeRows)
func writesRoundedSeconds(duration: Duration, decimals: Int, text: String) {
    #expect(DecimalSeconds.text(duration, decimals: decimals) == text)
}

private let exactRows: [(duration: Duration, text: String)] = [
    (.seconds(600), "600"),
    (.milliseconds(33_367), "33.367"),
    (.milliseconds(-500), "-0.5"),
    (.zero, "0"),
]

@Test(arguments: exactRows)
func writesExactSeconds(duration: Duration, text: String) {
    #expect(DecimalSeconds.text(duration) == text)
    #expect(DecimalSeconds.duration(text, isSigned: true) == duration)
}

@Test func everyDurationRoundTrips() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<2000 {
        let duration = Duration(
            secondsComponent: .random(in: -9_999_999_998...9_999_999_998, using: &random),
            attosecondsComponent: .random(in: 0..<1_000_000_000_000_000_000, using: &random))
        #expect(DecimalSeconds.duration(DecimalSeconds.text(duration), isSigned: true) == duration)
    }
}

@Test func sumOfFrameDurationsDoesNotDrift() {
    let sum = (0..<30_000).reduce(Duration.zero) { sum, _ in sum + (DecimalSeconds.duration("0.0333667") ?? .zero) }
    #expect(DecimalSeconds.text(sum) == "1001.001")
}

@Test func roundsUpToWholeSecond() {
    #expect(DecimalSeconds.roundedUp(.milliseconds(6001)) == .seconds(7))
    #expect(DecimalSeconds.roundedUp(.seconds(6)) == .seconds(6))
}
