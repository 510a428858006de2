// Lists of element types, for definitions that differ only in the type: M is a macro of one type.

#ifndef __EACH_FLOAT
#define __EACH_FLOAT(M) M(float16) M(float) M(double)
#define __EACH_SIGNED(M) M(int8) M(int16) M(int32) M(int64)
#define __EACH_UNSIGNED(M) M(uint8) M(uint16) M(uint32) M(uint64)
#define __EACH_INT(M) __EACH_SIGNED(M) __EACH_UNSIGNED(M)
#define __EACH_NUMBER(M) __EACH_INT(M) __EACH_FLOAT(M)
#define __EACH_TYPE(M) M(bool) __EACH_NUMBER(M)
#endif
