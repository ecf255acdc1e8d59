import Channel
import LiveRing

extension ChannelState {
    /// Whether the live window is filled, the channel is on time and its spool accepts segments.
    var isReady: Bool {
        let status = status
        guard status.output.writeFailure == nil else { return false }
        return snapshot?.isFilled == true && (status.state == .live || status.state == .ended)
    }
}
