package import Foundation

/// The directory of Package.swift, found from where this source really lies.
package enum PackageRoot {
    package static let url = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
