struct Point {
    float x, y;
}

float length2(Point p) { return p.x * p.x + p.y * p.y; }
