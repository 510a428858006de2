// The shortest ways between all pairs of points.
export void floyd_warshall(uniform int n, uniform int distance[]) {
    for (uniform int via = 0; via < n; ++via) {
        for (uniform int from = 0; from < n; ++from) {
            uniform int first = distance[from * n + via];
            foreach (to = 0 ... n) {
                int way = first + distance[via * n + to];
                if (way < distance[from * n + to])
                    distance[from * n + to] = way;
            }
        }
    }
}
