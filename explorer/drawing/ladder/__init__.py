"""Lays a gradient graph out as a picture; ``assembly`` takes these steps one after the other.

1. columns: a graph becomes four columns of node ids.
2. forward_lane: Graphviz places the boxes of the forward lane.
3. rows: both lanes get rows, each backward node level with its forward node.
4. backward_lane: the boxes of the backward lane get their x.
5. lane, side_columns, frame: everything gets its x, with free ways for edges between the boxes.
6. lane_routes, wiring: every edge becomes a route, whose heights are rows, gaps and boxes still.
7. groups: modules get the sides and rows of the frames behind their boxes.
8. heights: rows and gaps get their y, and with them routes, boxes and groups.
"""
