extension Array {
    /// Returns the first index from which every element satisfies the predicate; the count if there is none.
    ///
    /// The elements that satisfy it follow all others, as in a list in ascending order.
    package func partitioningIndex(where belongsToSecondPartition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            StepCounter.add(1)
            let middle = low + (high - low) / 2
            if belongsToSecondPartition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Returns the last element before those that satisfy the predicate; nil if the first one does.
    package func last(before belongsToSecondPartition: (Element) -> Bool) -> Element? {
        let index = partitioningIndex(where: belongsToSecondPartition)
        return index > 0 ? self[index - 1] : nil
    }
}
