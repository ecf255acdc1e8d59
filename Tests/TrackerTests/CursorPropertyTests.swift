import Playlist
import TestSupport
import Testing

@testable import Tracker

/// An origin that keeps its numbers, seen through edges that lag, tokens that change and loads that come late.
@Test(arguments: 0..<400 as Range<UInt64>)
func everyNumberIsSettledOnceAndInOrder(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let window = UInt64.random(in: 3...10, using: &random)
    let isDated = Bool.random(using: &random)
    var edge = UInt64.random(in: 10...5000, using: &random)
    var cursor = SegmentCursor()
    var settled: [UInt64] = []
    for load in 0..<200 {
        edge += UInt64([0, 0, 1, 1, 1, 2, 3, 12].randomElement(using: &random) ?? 1)
        let isStale = load > 0 && UInt64.random(in: 0..<5, using: &random) == 0
        let shown = isStale ? edge - UInt64.random(in: 0..<window, using: &random) : edge
        let token = random.next()
        let uri = { (number: UInt64) in "seg\(number).ts?t=\(token)" }
        let numbers = shown - window..<shown
        let list = isDated ? datedPlaylist(numbers, uri: uri) : mediaPlaylist(numbers, uri: uri)
        for effect in cursor.handle(list, at: .seconds(3 * load)) {
            switch effect {
            case .fetch(let numbers), .gap(let numbers), .slidOut(let numbers): settled += Array(numbers)
            case .reset(let anchor): Issue.record("seed \(seed): reset by \(anchor) of numbers that never went back")
            case .stale, .ended: break
            }
        }
    }
    let first = settled.first ?? 0
    #expect(settled == Array(first..<first + UInt64(settled.count)), "seed \(seed)")
    #expect(settled.last.map { $0 + 1 } == cursor.next, "seed \(seed)")
}

/// An origin whose numbers jump to anywhere while its addresses go on, and another one that answers in its place now and
/// then: each segment once and in order, and every segment of its own.
@Test(arguments: 0..<200 as Range<UInt64>)
func everySegmentIsTakenOnceWhateverItsNumber(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let window = UInt64.random(in: 7...12, using: &random)
    let flaps = Bool.random(using: &random)
    let drifts = UInt64.random(in: 0..<3, using: &random) == 0
    var (edge, offset, wasForeign) = (UInt64(100), UInt64(1000), false)
    var cursor = SegmentCursor()
    var taken: [UInt64] = []
    for load in 0..<80 {
        edge += UInt64([0, 1, 1, 1, 2].randomElement(using: &random) ?? 1)
        if drifts || UInt64.random(in: 0..<8, using: &random) == 0 {
            let near = [offset + 1, offset + window / 2, offset - min(offset, 2)]
            let far = [0, offset + window, offset + 5000, 1 << 60]
            offset = (drifts ? near : near + far).randomElement(using: &random) ?? 0
        }
        let isForeign = flaps && load > 0 && !wasForeign && UInt64.random(in: 0..<10, using: &random) == 0
        wasForeign = isForeign
        let first = isForeign ? UInt64.random(in: 0...40, using: &random) : edge - window + offset
        let numbers = first..<first + window
        let list = mediaPlaylist(numbers) { isForeign ? "other\(load)-\($0).ts" : "\($0 - offset)" }
        for effect in cursor.handle(list, at: .seconds(6 * load)) {
            switch effect {
            case .fetch(let numbers): taken += numbers.compactMap { UInt64(list.segment($0).uri) }
            case .slidOut where isForeign: break
            case .slidOut(let lost):
                Issue.record("seed \(seed): \(lost) lost of an origin that always lists what is new")
            case .gap, .stale, .reset, .ended: break
            }
        }
    }
    let from = taken.first ?? 0
    #expect(taken == Array(from..<from + UInt64(taken.count)), "seed \(seed)")
    #expect((taken.last ?? 0) + 3 >= edge, "seed \(seed): \(taken.last ?? 0) of \(edge)")
}

/// Whatever a list says, nothing traps, and what is taken is in the list shown.
@Test(arguments: 0..<400 as Range<UInt64>)
func arbitraryListsAreSurvived(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var cursor = SegmentCursor(policy: seed.isMultiple(of: 2) ? .main : .companion)
    let starts: [UInt64] = [0, 5, 20, 1000, .max - 8]
    for load in 0..<60 {
        let start = starts.randomElement(using: &random) ?? 0
        let count = UInt64.random(in: 0...7, using: &random)
        let salt = UInt64.random(in: 0...2, using: &random)
        let epoch = Int64.random(in: -50...50, using: &random)
        let numbers = start..<start + count
        let list = datedPlaylist(numbers, epoch: epoch) { "s\($0 / 2 + salt).ts" }
        for effect in cursor.handle(list, at: .seconds(load)) {
            guard case .fetch(let taken) = effect else { continue }
            #expect(!taken.isEmpty && taken.clamped(to: numbers) == taken, "seed \(seed)")
        }
    }
}
