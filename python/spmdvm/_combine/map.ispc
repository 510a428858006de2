// A function of several results, at each element where `where` is true, or everywhere if it is not `masked`.
static void run__(X_PARAMS__, Y_PARAMS__, const uniform bool where[], uniform int64 masked, uniform int64 first,
                  uniform int64 end DONE_PARAM__) {
    IN_PIECES__(first, end) {
        foreach (i = FROM__ ... TO__)
            if (!masked || where[i])
                STORE_Y__(i, LOAD_X__(i))
        DID__(TO__ - FROM__)
    }
}

task void runs__(X_PARAMS__, Y_PARAMS__, const uniform bool where[], uniform int64 masked,
                uniform int64 n DONE_PARAM__) {
    run__(X__, Y__, where, masked, n * taskIndex / taskCount, n * (taskIndex + 1) / taskCount DONE__);
}

export void entry__(X_PARAMS__, Y_PARAMS__, const uniform bool where[], uniform int64 masked, uniform int64 n,
                    uniform int tasks DONE_PARAM__) {
    if (tasks < 2) {
        run__(X__, Y__, where, masked, 0, n DONE__);
    } else {
        launch[tasks] runs__(X__, Y__, where, masked, n DONE__);
        sync;
    }
}
