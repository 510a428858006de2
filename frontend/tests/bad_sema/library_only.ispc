export float f(float x) { return __op_sqrt(x) + @llvm.sqrt.v8f32(x); }
