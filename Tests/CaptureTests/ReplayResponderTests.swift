import Testing

@testable import Capture
@testable import Fetch
@testable import Support

private let reloaded = [
    makeExchange(.seconds(8), playlistURL, "third"), makeExchange(.seconds(2), playlistURL, "first"),
    makeExchange(.seconds(4), playlistURL, "second", took: .milliseconds(250)),
    makeExchange(.seconds(4), "http://h/1.ts", "media"), makeExchange(.seconds(4), "http://h/1.ts", "media again"),
]

private let replayRows: [(when: String, url: String, seconds: Double, text: String?)] = [
    ("before the first recorded request", playlistURL, 0, "first"), ("at the recorded time", playlistURL, 4, "second"),
    ("between two answers", playlistURL, 7.999, "second"), ("long after the end", playlistURL, 1e6, "third"),
    ("two answers at one time: the later one", "http://h/1.ts", 5, "media again"),
    ("another query", playlistURL + "?a", 5, nil), ("an unknown URL", "http://h/2.ts", 5, nil),
]

@Test(arguments: replayRows)
func replayReturnsTheLatestPlaylistState(when: String, url: String, seconds: Double, text: String?) {
    var replay = ReplayResponder(makeCapture(reloaded))
    let found = replay.answer(FetchRequest(.mediaPlaylist, url: url), at: .seconds(seconds))
    switch found?.outcome {
    case .success(let answer):
        #expect(String(decoding: answer.body, as: UTF8.self) == text, "\(when)")
        #expect(answer.finalURL == url)
        #expect(found?.latency == (text == "second" ? .milliseconds(250) : .zero))
    case .failure(let error):
        #expect(error == FetchError(.notInCapture, url: url))
        #expect(text == nil, "\(when)")
    case nil: Issue.record("\(when): no answer")
    }
}

/// Times of playlist requests, the answers and their arrival times, in milliseconds.
private let timingRows: [(when: String, requests: [Int], texts: [String], arrivals: [Int])] = [
    ("as recorded", [2000, 4000, 8000], ["first", "second", "third"], [2000, 4250, 8000]),
    ("slightly early: at the recorded times", [1990, 3900, 7801], ["first", "second", "third"], [1990, 4250, 8000]),
    ("too early for the next", [2000, 3700, 4000], ["first", "first", "second"], [2000, 3700, 4250]),
    ("less often: one state is skipped", [2000, 9000], ["first", "third"], [2000, 9000]),
    (
        "more often: each state stays until the next", [2000, 3000, 4000, 6000],
        ["first", "first", "second", "second"],
        [2000, 3000, 4250, 6250]
    ),
]

@Test(arguments: timingRows)
func requestsWithTheRecordedTimingGetTheRecordedTiming(when: String, requests: [Int], texts: [String], arrivals: [Int])
{
    var replay = ReplayResponder(makeCapture(reloaded))
    let answers = requests.map { replay.answer(FetchRequest(.mediaPlaylist, url: playlistURL), at: .milliseconds($0)) }
    #expect(answers.map { $0?.outcome.text } == texts, "\(when)")
    #expect(
        zip(requests, answers).map { .milliseconds($0) + ($1?.latency ?? .zero) } == arrivals.map { .milliseconds($0) })
}

@Test func segmentAnswersFollowInOrderHoweverLateTheRequest() {
    let url = "http://h/1.ts"
    var replay = ReplayResponder(
        makeCapture([
            makeExchange(.seconds(2), url, "", status: 404),
            CapturedExchange(at: .seconds(3), url: url, ending: .failure(.reset)),
            makeExchange(.seconds(4), url, "media"),
        ]))
    let request = FetchRequest(.segment, url: url)
    let outcomes = (0..<4).map { replay.answer(request, at: .seconds(10 + $0))?.outcome }
    #expect(outcomes.map { try? $0?.get().status } == [404, nil, 200, 200])
    #expect(outcomes[1] == .failure(FetchError(.reset, url: url, message: "as recorded")))
}

@Test func canceledRequestIsNeverAnswered() {
    let exchange = CapturedExchange(at: .zero, took: .seconds(9), url: playlistURL, ending: .failure(.canceled))
    var replay = ReplayResponder(makeCapture([exchange]))
    #expect(replay.answer(FetchRequest(.mediaPlaylist, url: playlistURL), at: .zero) == nil)
}

@Test func replayDistinguishesByteRanges() {
    let url = "http://h/all.mp4"
    let first = ByteRange(offset: 0, length: 1)
    let second = ByteRange(offset: 1, length: 1)
    let whole = makeExchange(.seconds(1), "http://h/whole.mp4", "whole")
    var replay = ReplayResponder(
        makeCapture([makeExchange(.zero, url, "a", range: first), makeExchange(.zero, url, "b", range: second), whole]))
    func body(_ url: String, _ range: ByteRange?) -> String? {
        replay.answer(FetchRequest(.segment, url: url, byteRange: range), at: .seconds(1))?.outcome.text
    }
    #expect(body(url, first) == "a")
    #expect(body(url, second) == "b")
    #expect(body(url, nil) == nil)
    #expect(body(whole.url, first) == "whole", "like an origin without range support")
}

@Test func replayReturnsRecordedFailure() {
    let failed = CapturedExchange(at: .zero, url: playlistURL, ending: .failure(.timedOut))
    var replay = ReplayResponder(makeCapture([failed]))
    let expected = FetchError(.timedOut, url: playlistURL, message: "as recorded")
    #expect(replay.answer(FetchRequest(.mediaPlaylist, url: playlistURL), at: .zero)?.outcome == .failure(expected))
}

extension FetchOutcome {
    fileprivate var text: String? { (try? get()).map { String(decoding: $0.body, as: UTF8.self) } }
}
