#if 1 +
int a;
#elif
#else
#else
#endif
#endif
#ifdef
#endif
#if FOO == (3
