import ChannelList

/// By what clients know this instance as a tuner.
struct TunerIdentity: Equatable, Sendable {
    /// What clients show.
    var name = "liverelay"
    /// The same over restarts, because clients forget their channels when it changes.
    var deviceID = TunerDevice.deviceID(seed: "")

    /// Tuners where the number of channels that may run has no limit.
    static let unlimitedTuners = 16

    func device(tunerCount: Int) -> TunerDevice {
        TunerDevice(name: name, tunerCount: tunerCount, deviceID: deviceID)
    }
}
