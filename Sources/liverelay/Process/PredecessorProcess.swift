import LiveRing
import Logging
import Service
import Support
import Synchronization

/// The process whose connections and channels this process takes over.
final class PredecessorProcess: Sendable {
    private let machine = Mutex(IncomingHandover())
    private let link: HandoverLink
    private let inputs: AsyncStream<IncomingHandover.Input>
    private let input: AsyncStream<IncomingHandover.Input>.Continuation

    /// - Parameter descriptor: the connection to the process.
    init(_ descriptor: Int32) {
        let (inputs, input) = AsyncStream<IncomingHandover.Input>.makeStream()
        (self.inputs, self.input) = (inputs, input)
        link = HandoverLink(descriptor) { message in
            input.yield(message.map { .message($0) } ?? .predecessorEnded)
        }
    }

    /// Returns what the other process will hand over.
    func offer() async throws(RelayError) -> HandoverState {
        var inputs = inputs.makeAsyncIterator()
        while let input = await inputs.next() {
            if case .check(let offered)? = try performed(handle(input)) { return offered }
        }
        throw Self.error(Self.cancellation)
    }

    /// Reads the rings of the channels, tells the other process that this one can start, and returns when that accepts no
    /// connections any more.
    func takeOver(
        _ offered: HandoverState, _ host: ChannelHost, _ updater: CatalogUpdater?
    ) async throws(RelayError) -> HandoverState {
        await updater?.repeatChanges(offered.changes)
        await host.follow(offered.channels, notify: report)
        let handed = try await accept(offered)
        await updater?.repeatChanges(handed.changes)
        // Channels that started or ended meanwhile.
        await host.follow(handed.channels, notify: report)
        for channel in offered.channels.keys where handed.channels[channel] == nil { _ = host.takeOverChannel(channel) }
        return handed
    }

    private func accept(_ offered: HandoverState) async throws(RelayError) -> HandoverState {
        var next = IncomingHandover.Input.checked(refusal: Self.refusal(of: offered.channels.values.sorted()))
        var inputs = inputs.makeAsyncIterator()
        while true {
            if case .start(let handed)? = try performed(handle(next)) { return handed }
            guard let input = await inputs.next() else { throw Self.error(Self.cancellation) }
            next = input
        }
    }

    private static let cancellation = "the process was asked to end"

    /// - Returns: the effect that is not performed here.
    private func performed(
        _ effects: [IncomingHandover.Effect]
    ) throws(RelayError) -> IncomingHandover.Effect? {
        for effect in effects {
            switch effect {
            case .send(let message): link.send(message)
            case .end(let reason):
                link.end()
                throw Self.error(reason)
            case .check, .start, .take, .takeAll, .becomeService: return effect
            }
        }
        return nil
    }

    /// Takes the channels over as they are released. Returns when this process is the service.
    func run(_ host: ChannelHost) async {
        var pending = [IncomingHandover.Input.started]
        var iterator = inputs.makeAsyncIterator()
        while true {
            while !pending.isEmpty {
                for effect in handle(pending.removeFirst()) {
                    switch effect {
                    case .send(let message): link.send(message)
                    case .take(let channel):
                        if !host.takeOverChannel(channel) { pending.append(.taken(channel: channel)) }
                    case .takeAll: host.takeOverAllChannels()
                    case .becomeService:
                        link.end()
                        return
                    case .check, .start, .end: break
                    }
                }
            }
            guard let input = await iterator.next() else { return }
            pending.append(input)
        }
    }

    /// Reports how this process has taken a channel over.
    func report(_ channel: String, _ failure: FailureText?) {
        input.yield(
            failure.map { .failed(channel: channel, reason: $0.operatorText) } ?? .taken(channel: channel))
    }

    /// Reports why this process ends.
    func refuse(_ error: RelayError) {
        link.send(.refused(reason: error.line))
        link.end()
    }

    private static func error(_ reason: String) -> RelayError {
        RelayError(
            .cannotSpool, "The channels cannot be taken over: \(reason)",
            advice: "The running process continues; correct what is said, and upgrade it again")
    }

    private func handle(_ input: IncomingHandover.Input) -> [IncomingHandover.Effect] {
        machine.withLock { $0.handle(input) }
    }

    private static func refusal(of spools: [String]) -> String? {
        for spool in spools {
            do throws(RingError) { try DVRRing.checkFormat(in: spool) } catch { return error.message }
        }
        return nil
    }
}
