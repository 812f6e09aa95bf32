"""``layerwise``: the layer-wise adversary paper."""
