@testable import Support
import Testing

@testable import Fetch
@testable import Tracker

private let date = "Sun, 06 Nov 1994 08:49:37 GMT"

private let rows: [(when: String, retryAfter: String?, date: String?, pause: Duration?)] = [
    ("no header", nil, date, nil),
    ("seconds", "120", nil, .seconds(120)),
    ("zero", "0", nil, .zero),
    ("date", "Sun, 06 Nov 1994 08:51:37 GMT", date, .seconds(120)),
    (
        "date across midnight and New Year", "Sun, 01 Jan 1995 00:00:01 GMT", "Sat, 31 Dec 1994 23:59:59 GMT",
        .seconds(2)
    ),
    ("RFC 850 date", "Sunday, 06-Nov-94 08:49:47 GMT", date, .seconds(10)),
    (
        "RFC 850 date of this century", "Friday, 01-Jan-27 00:00:05 GMT", "Fri, 01 Jan 2027 00:00:00 GMT",
        .seconds(5)
    ),
    ("asctime date", "Sun Nov  6 08:49:57 1994", date, .seconds(20)),
    ("two asctime dates", "Sun Nov 16 08:49:57 1994", "Sun Nov 16 08:49:37 1994", .seconds(20)),
    ("date in the past", "Sun, 06 Nov 1994 08:00:00 GMT", date, .zero),
    ("date without a Date header", "Sun, 06 Nov 1994 08:51:37 GMT", nil, nil),
    ("date in another time zone", "Sun, 06 Nov 1994 08:51:37 CET", date, nil),
    ("nonexistent day", "Sun, 31 Nov 1994 08:51:37 GMT", date, nil),
    ("nonexistent month", "Sun, 06 Now 1994 08:51:37 GMT", date, nil),
    ("seconds beyond 64 bits", "99999999999999999999999", nil, .seconds(366 * 86_400)),
    ("negative seconds", "-5", nil, nil), ("fraction", "1.5", nil, nil), ("not a number", "soon", nil, nil),
    ("empty value", "", nil, nil), ("truncated date", "Sun, 06", date, nil),
    ("digits of another script", "١٢", nil, nil),
]

@Test(arguments: rows.indices) func retryAfterOfAnAnswer(_ index: Int) {
    let row = rows[index]
    let headers = [("Retry-After", row.retryAfter), ("date", row.date)].compactMap { name, value in
        value.map { FetchAnswer.Header(name: name, value: $0) }
    }
    let answer = FetchAnswer(status: 503, finalURL: "", headers: headers, body: [])
    #expect(answer.retryAfter == row.pause, "\(row.when)")
}

@Test func retryAfterOfASuccessIsIgnored() {
    let headers = [FetchAnswer.Header(name: "Retry-After", value: "5")]
    let answers = [200, 206, 302, 404].map { FetchAnswer(status: $0, finalURL: "", headers: headers, body: []) }
    #expect(answers.map { FetchOutcome.success($0).retryAfter } == [nil, nil, .seconds(5), .seconds(5)])
}
