extension RandomAccessCollection where Index == Int {
    /// Returns the first index from which every element satisfies the predicate; the end if there is none.
    ///
    /// The elements that satisfy it follow all others, as in a list in ascending order.
    @inlinable
    package func partitioningIndex(where belongsToSecondPartition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            StepCounter.add(1)
            let middle = low + (high - low) / 2
            if belongsToSecondPartition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
