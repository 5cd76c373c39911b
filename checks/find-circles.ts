/**
 * The circles of a graph: groups of nodes of which each leads to every other (strongly connected components of more
 * than one node, by Tarjan's algorithm).
 * @param edges the successors of each node; unknown successors are ignored
 */
export function findCircles(edges: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const index = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): number => {
    const own = index.size;
    index.set(node, own);
    lowest.set(node, own);
    open.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!edges.has(next)) continue;
      const seen = index.get(next);
      if (seen === undefined) lowest.set(node, Math.min(lowest.get(node) ?? own, visit(next)));
      else if (open.includes(next)) lowest.set(node, Math.min(lowest.get(node) ?? own, seen));
    }
    const low = lowest.get(node) ?? own;
    if (low === own) {
      const circle = open.splice(open.indexOf(node));
      if (circle.length > 1) circles.push(circle);
    }
    return low;
  };
  for (const node of edges.keys()) if (!index.has(node)) visit(node);
  return circles;
}
