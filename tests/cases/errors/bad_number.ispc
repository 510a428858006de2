uniform int x = 12abc; //~ error: E0005
