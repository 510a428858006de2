export void f(float x) {
    if (x < 1) goto done;
    goto dome;
    goto end;
done:
    x = 1;
end:
end:
    x = 2;
}
