// The matrix Q of MRI reconstruction: sines and cosines of every voxel with every sample.
export void mri_q(uniform int voxels, uniform int samples, const uniform float x[], const uniform float y[],
                  const uniform float z[], const uniform float kx[], const uniform float ky[], const uniform float kz[],
                  const uniform float weight[], uniform float qr[], uniform float qi[]) {
    foreach (v = 0 ... voxels) {
        float re = 0, im = 0;
        float px = x[v], py = y[v], pz = z[v];
        for (uniform int s = 0; s < samples; ++s) {
            float angle = 6.2831853f * (kx[s] * px + ky[s] * py + kz[s] * pz);
            re += weight[s] * cos(angle);
            im += weight[s] * sin(angle);
        }
        qr[v] = re;
        qi[v] = im;
    }
}
