import Logging
import Observability
import Service
import Support
import WebServer

extension ServeService {
    /// Answers clients that look for tuners, if that is asked for. Where that fails, clients can still be given the URL.
    func startDiscovery(of host: ChannelHost, httpPort: Int) async -> DiscoveryServer? {
        guard let discoveryPort else { return nil }
        let address = DiscoveryAddress(
            publicURL: addresses.publicURL?.text, listening: ListenAddress(host: self.address.host, port: httpPort))
        if !address.isReachable {
            logger.warning("HDHomeRun discovery is answered on this machine alone: give --listen or --public-url")
        }
        do throws(HTTPServerError) {
            let server = try await DiscoveryServer.start(
                port: discoveryPort, device: { [tuner] in tuner.device(tunerCount: host.policy.tunerCount) },
                address: address)
            logger.info("HDHomeRun discovery: port=\(server.port) device=\(tuner.deviceID)")
            return server
        } catch {
            logger.warning("HDHomeRun discovery is not answered: \(RelayError(error).message)")
            return nil
        }
    }
}
