package import ChannelList

/// By what clients know this instance as a tuner.
package struct TunerIdentity: Equatable, Sendable {
    /// The name that clients show.
    package var name = "liverelay"
    /// The same over restarts, because clients forget their channels when it changes.
    package var deviceID = TunerDevice.deviceID(seed: "")

    package init(name: String = "liverelay", deviceID: String = TunerDevice.deviceID(seed: "")) {
        self.name = name
        self.deviceID = deviceID
    }

    /// Tuners where the number of channels that may run has no limit.
    static let unlimitedTuners = 16

    package func device(tunerCount: Int) -> TunerDevice {
        TunerDevice(name: name, tunerCount: tunerCount, deviceID: deviceID)
    }
}
