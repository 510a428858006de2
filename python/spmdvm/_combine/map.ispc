// A function of several results, at each element where `where` is true, or everywhere if it is not `masked`.
static void run__(X_PARAMS__, Y_PARAMS__, const uniform bool where[], uniform int64 masked, uniform int64 first,
                  uniform int64 end) {
    foreach (i = first ... end)
        if (!masked || where[i])
            STORE_Y__(i, LOAD_X__(i))
}

task void runs__(X_PARAMS__, Y_PARAMS__, const uniform bool where[], uniform int64 masked, uniform int64 n) {
    run__(X__, Y__, where, masked, n * taskIndex / taskCount, n * (taskIndex + 1) / taskCount);
}

export void entry__(X_PARAMS__, Y_PARAMS__, const uniform bool where[], uniform int64 masked, uniform int64 n,
                    uniform int tasks) {
    if (tasks < 2) {
        run__(X__, Y__, where, masked, 0, n);
    } else {
        launch[tasks] runs__(X__, Y__, where, masked, n);
        sync;
    }
}
