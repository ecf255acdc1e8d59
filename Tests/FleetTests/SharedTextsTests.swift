import Synchronization
import Testing

@testable import Fleet

/// An engine in which another node changes a text first, a number of times.
private final class RivalEngine: FleetEngine {
    private let rivals: Mutex<Int>
    private let newest = Mutex<OwnerRecord?>(nil)
    let texts = Mutex<SharedTexts?>(nil)

    init(rivals: Int) { self.rivals = Mutex(rivals) }

    var text: String? { newest.withLock { $0?.content } }

    func create(_ record: OwnerRecord) async -> Bool? {
        let isFirst = rivals.withLock { count in
            defer { count = max(0, count - 1) }
            return count == 0
        }
        let found =
            isFirst
            ? record
            : OwnerRecord(
                subject: record.subject, epoch: record.epoch, node: "-", attempt: 0, base: 0,
                content: (text ?? "") + "r")
        newest.withLock { $0 = found }
        let view = FleetView(
            counter: 1, sentAt: .zero, nodes: [:],
            owners: [record.subject: Ownership(epoch: record.epoch, record: found)])
        texts.withLock { $0 }?.record(view)
        return isFirst
    }

    func beat(_ record: NodeRecord, sentAt: Duration) async throws(EngineError) -> FleetView {
        throw EngineError(.unreachable(""))
    }

    func removeNodes(_ nodes: [String]) async {}
    func removeSubject(_ subject: String) async {}
}

@Suite("Texts that nodes share") struct SharedTextsTests {
    private func change(
        against rivals: Int, _ edit: (String?) -> (value: Int, text: String?)
    ) async throws -> (value: Int, text: String?) {
        let engine = RivalEngine(rivals: rivals)
        let texts = SharedTexts(engine, clock: .init(now: { .zero }, sleep: { _ in }))
        engine.texts.withLock { $0 = texts }
        return (try await texts.change(.channels, edit), engine.text)
    }

    @Test("A change is made to what the nodes before wrote", arguments: [0, 1, SharedTexts.longestContention - 1])
    func changes(rivals: Int) async throws {
        let (value, text) = try await change(against: rivals) { text in (text?.count ?? 0, (text ?? "") + "x") }
        #expect(value == rivals)
        #expect(text == String(repeating: "r", count: rivals) + "x")
    }

    @Test("A change ends if other nodes are always first") func contention() async {
        await #expect(throws: SharedTexts.Failure.contended) {
            try await change(against: SharedTexts.longestContention) { (0, ($0 ?? "") + "x") }
        }
    }

    @Test("A change of nothing asks no engine") func nothing() async throws {
        let (value, text) = try await change(against: 1) { _ in (3, nil) }
        #expect(value == 3 && text == nil)
    }

    @Test("A text that is too long is refused") func length() async {
        await #expect(throws: SharedTexts.Failure.tooLong(limit: SharedTexts.longestText)) {
            try await change(against: 0) { _ in (0, String(repeating: "x", count: SharedTexts.longestText + 1)) }
        }
    }
}
