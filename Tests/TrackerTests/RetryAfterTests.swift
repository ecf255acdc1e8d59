import Testing

@testable import Tracker

private let date = "Sun, 06 Nov 1994 08:49:37 GMT"

private let rows: [(when: String, retryAfter: String?, date: String?, pause: Duration?)] = [
    ("nothing said", nil, date, nil),
    ("seconds", "120", nil, .seconds(120)),
    ("at once", "0", nil, .zero),
    ("a date", "Sun, 06 Nov 1994 08:51:37 GMT", date, .seconds(120)),
    (
        "a date over midnight and the new year", "Sun, 01 Jan 1995 00:00:01 GMT", "Sat, 31 Dec 1994 23:59:59 GMT",
        .seconds(2)
    ),
    ("a date in the form of RFC 850", "Sunday, 06-Nov-94 08:49:47 GMT", date, .seconds(10)),
    (
        "a date of this century in that form", "Friday, 01-Jan-27 00:00:05 GMT", "Fri, 01 Jan 2027 00:00:00 GMT",
        .seconds(5)
    ),
    ("a date in the form of asctime", "Sun Nov  6 08:49:57 1994", date, .seconds(20)),
    ("both in the form of asctime", "Sun Nov 16 08:49:57 1994", "Sun Nov 16 08:49:37 1994", .seconds(20)),
    ("a date that has passed", "Sun, 06 Nov 1994 08:00:00 GMT", date, .zero),
    ("a date, and none to count it from", "Sun, 06 Nov 1994 08:51:37 GMT", nil, nil),
    ("a date of another zone", "Sun, 06 Nov 1994 08:51:37 CET", date, nil),
    ("a day that does not exist", "Sun, 31 Nov 1994 08:51:37 GMT", date, nil),
    ("a month that does not exist", "Sun, 06 Now 1994 08:51:37 GMT", date, nil),
    ("more seconds than a number holds", "99999999999999999999999", nil, .seconds(366 * 86_400)),
    ("negative seconds", "-5", nil, nil), ("a fraction", "1.5", nil, nil), ("no number", "soon", nil, nil),
    ("nothing in it", "", nil, nil), ("half a date", "Sun, 06", date, nil),
    ("digits of another script", "١٢", nil, nil),
]

@Test(arguments: rows.indices) func retryAfterIsRead(_ index: Int) {
    let row = rows[index]
    let headers = [("Retry-After", row.retryAfter), ("date", row.date)].compactMap { name, value in
        value.map { FetchAnswer.Header(name: name, value: $0) }
    }
    let answer = FetchAnswer(status: 503, finalURL: "", headers: headers, body: [])
    #expect(answer.retryAfter == row.pause, "\(row.when)")
}

@Test func aSuccessIsNotAskedWhenToComeAgain() {
    let headers = [FetchAnswer.Header(name: "Retry-After", value: "5")]
    let answers = [200, 206, 302, 404].map { FetchAnswer(status: $0, finalURL: "", headers: headers, body: []) }
    #expect(answers.map { FetchOutcome.success($0).retryAfter } == [nil, nil, .seconds(5), .seconds(5)])
}
