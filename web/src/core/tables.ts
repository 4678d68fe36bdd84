/**
 * The colour maps of fovea/figure/color_map.cc, 256 times red, green, blue; tests hold both against tests/data/page/core.json.
 * What the page draws besides is made from few anchors: grey for sinks, and signed values on plates.
 */
import { fromBase64 } from './codec';

const PACKED = {
  inferno:
    'AAAEAQAGAQEIAgEKAwIMAwIOBAMQBAMSBQQUBgQWBgUYBwUZCAYbCAYeCQcgCgciCwgkDAgmDQgoDgkrDwktEQkwEgoyEwo1FQo3Fgo6GAs8GQs/GwtBHAtEHgxGHwxJIQxLIgxNJAxPJgxRJwxTKQxVKwxWLAxYLgtaMAtbMgtdNAteNgpgNwphOQpjOwpkPQplPwpmQApnQgpoRAppRQpqRwtqSQtrSgxrTAxsTQxsTw1sUA5tUg5tVA9tVQ9tVxBtWBBuWhFuWxFuXRJuXxNuYBNuYhRuYxRuZRVuZxVuaBZuahduaxdubRhubhhucBluchpucxpudRttdhtteBxteh1tex1tfR5sfh5sgB9sgiBrgyBrhSFrhiFqiCJqiSJqiyNpjSRpjiRokCVokSVnkyZnlSdmlidmmChlmShlmylknSlknipjoCpioStioyxhpSxgpi1gqC1fqS5eqy9erC9drjBcsDFbsTFaszJatDNZtjRYtzRXuTVWujZVvDdUvThTvjlSwDlRwTpQwztPxDxOxj1Nxz5MyD9LykBKy0FJzUJIzkNHz0RG0UVF0kZE00dD1UlC1kpB10tA2Ew+2k0920883FA73VE63lI531Q44FU24VY14lg041kz5Foy5Vww5l0v518u6GAt6WEr6mMq62Qp62Yo7Gcm7Wkl7msk72wi724h8G8g8XEe8nId8nQb83Ya9HcY9HkX9XsW9XwU9n4T94AS94ER+IMQ+IUP+IcO+YkN+YoN+owM+o4L+pAK+pIK+5QJ+5YJ+5gI+5kI+5sI/J0I/J8I/KEJ/KMJ/KUK/KcL/KkM/KsO/K0P/K8R/LET/LMV/LUX/LYZ/Lgb+7oe+7wg+74j+8Al+8Io+sQq+sYt+sgw+coy+cw1+M44+NA799I99tRA9tZD9ddH9NlK9NtN891Q899T8uFX8uNa8uRe8uZh8uhl8ulo8+ts8+xw9O509O949fF89vKA9vSE9/WI+PaM+fiQ+fmU+vuY+/yc+/6g/P+k',
  cividis:
    'ACJOACNQACNSACRUACVWACZYACZaACdcACheAChgACliACpjACplACtnACxoAC1qAC1rAC5sAS9tAi9uBDBuBTFvBzJvCTJvCzNvDTRwDzRwETVwEzZvFTdvFzdvGThvGzlvHDlvHjpvIDtvITtvIzxvJD1vJT1uJz5uKD9uKj9uK0BuLEBtLkFtL0JtMEJtMUNsM0RsNERsNUVsNkZsN0ZsOUdsOkhsO0hsPElsPUpsPktsP0tsQExsQU1sQk1sQ05sRE9sRVBsRlBsR1FsSFJsSVJsSlNsS1RsTFVsTVVsTlZsT1dsUFdsUVhsUllsUlltU1ptVFttVVxtVlxtV11tWF5tWV5tWl9tW2BuW2FuXGFuXWJuXmNuX2NuYGRvYWVvYmVvYmZvY2dvZGhwZWhwZmlwZ2pwaGpxaWtxamxxamxxa21ybG5ybW9ybm9zb3BzcHFzcXF0cXJ0cnN0c3R0dHR1dXV1dnZ1d3Z2eHd2eXh2eXl2enp3e3p3fHt3fXx4fn14f314gH54gH94gYB5goF5g4F5hIJ5hYN5hoN5h4R5iIV5iYZ5ioZ5iod5i4h5jIh4jYl4jop4j4p4kIt4kYx3ko13k413lI53lY93lpB3l5B3mJF2mZJ2mpN2m5R2nJV2nZV2npZ1n5d1oJh1oZl1opp1o5p0pJt0pZx0pp10p55zqJ5zqZ9zqqBzq6FyrKFyraJxr6NxsKRxsaRwsqVws6ZwtKdvtadvtqhut6luuKpuuattuqxtu6xsvK1sva5rvq9rv7BrwLFqwbJqwrNpw7RpxLRoxbVoxrZnx7dnyLhmybllyrply7tkzLxkzbxjz71i0L5i0b9h0sBg08Ff1MJf1cNe1sNd2MRc2cVc2sZb28da3MhZ3clY3spX4MpW4ctV4sxU481T5M5S5c9R5tBQ6NBP6dFO6tJN69NM7NRL7dVK7tZJ79dI8NhH8dlG8tpF89tE9NxD9d1C9t5B999A+OA/+OI++eM9+uQ8++U7/OY6/ec5/ug4',
  viridis:
    'RAFURAJVRQRXRQVYRQdaRQhbRgpdRgteRg1gRg5hRxBjRxFkRxNlRxRnSBZoSBdpSBlrSBpsSBttSB1uSB5wSB9xSCBySCJzSCN0SCR1SCV2SCd3SCh4SCl5SCp6SCt7Ry17Ry58Ry99RzB+RzF/RjN/RjSARjWBRTeBRTiCRTmCRDqDRDyEQz2EQz6FQz+FQkCGQkKGQUOHQUSHQUWHQEaIQEeIP0iJP0qJPkuJPkyKPU2KPU6KPE+KPFCLO1GLO1KLOlOLOlSMOVWMOVaMOVeMOFiMOFmNN1qNN1uNNlyNNl6NNV+NNWCNNGGNNGKOM2OOM2SOMmWOMmaOMWeOMWiOMWmOMGqOMGuOL2yOL22OLm6OLm+OLnCOLXGOLXKOLHKOLHOOLHSOK3WOK3aOKneOKniOKnmOKXqOKXuOKHyOKH2OJ36OJ3+OJ4COJoCOJoGOJYKOJYOOJISOJIWOJIaOI4eOI4iOI4mOIoqOIouOIoyOIY2NIY6NIY+NIZCNIJCNIJGNIJKMIJOMH5SMH5WMH5aMH5eLH5iLH5mLH5qKH5uKH5yKH52JH56JH5+JH6CIH6GIH6GHH6KHIKOGIKSGIKWGIaaFIaeFIqiEI6mDI6qDJKuCJayCJq2BJ62BKK6AKa9/KrB/LLF+LbJ9LrN9L7R8MbR7MrV7NLZ6Nbd5Nrh4OLl3Orp2O7p2Pbt1P7x0Qb1zQr5yRL9xRr9wSMBvSsFuTMJtTsNrUMNqUsRpVMVoVsZnWMdmWsdkXMhjX8liYclgY8pfZcteZ8xcasxbbM1abs5Ycc5Xc89VddBUeNBSetFRfNJQf9JOgdNMhNRLhtRJidVIi9VGjtZFkNdDk9dBldhAmNg+m9k8ndk7oNo5oto4pds2qNs0qtwzrdwxr90vst0ttd4rt94put8nvd8lwN8jwuAixeAgyOEfyuEezeEcz+Ic0uIb1eIb1+Ma2uMb3OMb3+Qb4eQc5OQc5uQd6eUe6+Uf7uUg8OYh8+Yi9eYj+OYk+uck/ecl',
  paper:
    '//////7+//79//37//36//z5//z4//v3//v1//r0//rz//ny//nx//jw//ju//ft//fs//br//bq//Xo//Xn//Tm//Tl//Pk//Pi//Lh//Lg//Hf//He//Dc//Db/+/a/+/Z/+7Y/+7W/+3V/+3U/+zT/+zS/+vQ/+rP/+rO/+nN/+nL/+jK/+jJ/+fI/+fH/ubF/ubE/uXD/uXC/uTA/uS//uO+/uO9/uK8/uK6/uG5/uG4/uC3/t+1/t+0/t6z/t6y/t2w/tyv/tqt/tmr/tiq/teo/tan/tWl/tSk/tOi/tKh/tGf/s+d/s6c/s2a/syZ/suX/sqW/smU/siT/seR/sWP/sSO/sOM/sKL/cGJ/cCH/b+G/b6E/byD/buB/bp//bl+/bh8/bd7/bZ5/bV3/LN2/LJ0/LFy/LBx/K9v/K5t/K1s/Kxq/Kpo+6lm+6hl+6dj+6Zh+6Vf+6Ne+6Jc+6Fa+qBY+p9W+p5V+pxT+ptR+ppP+ZlN+ZhL+ZdJ+ZVI+JRH+JNH95JG9pBG9o9F9Y5E9YxE9ItD84pD84hC8odC8oZB8YVB8INA8IJA74E/7n8+7n4+7X097Xs97Ho863k863g76nY76XU66XQ66HI56HE553A45m435m035Ww25Go25Gk142g14mY04mU04WMz4GIz4GEy318y3l4x3lwx3Vsw3Fow3Fgv21cu2lUu2lQt2VIt2FEs2FAs104r1k0r1ksq1Uoq1Egp1EYp00Uo0kMo0kIn0UAn0D4mzz0mzT0mzDwlyjslyTolxzklxTklxDglwjckwTYkvzUkvjQkvDQkujMjuTIjtzEjtjAjtDAjsy8isS4isC0iriwirSwiqyshqiohqCkhpighpSchoycgoiYgoCUgnyQgnSMfnCMfmiIfmSEflyAflh8elB4ekx4ekR0ekBwdjhsdjRodjBkdihkciRgchxcchhYchBUcgxQbgRMbgBMbfhIbfREaexAaeg8aeQ4adw0ZdgwZdAsZcwoZcQkYcAgY',
} as const;

export type ColorName = keyof typeof PACKED;
export const COLOR_NAMES = Object.keys(PACKED) as ColorName[];

const unpacked = new Map<ColorName, Uint8Array>();
export function colorTable(name: ColorName): Uint8Array {
  let table = unpacked.get(name);
  if (!table) unpacked.set(name, (table = fromBase64(PACKED[name])));
  return table;
}

type Anchor = readonly [number, number, number];

function between(anchors: readonly Anchor[]): Uint8Array {
  const table = new Uint8Array(768);
  for (let i = 0; i < 256; ++i) {
    const place = (i / 255) * (anchors.length - 1);
    const piece = Math.min(Math.floor(place), anchors.length - 2);
    const from = anchors[piece] as Anchor;
    const to = anchors[piece + 1] as Anchor;
    for (let c = 0; c < 3; ++c) table[3 * i + c] = Math.round((from[c] as number) + ((to[c] as number) - (from[c] as number)) * (place - piece));
  }
  return table;
}

/** On plates: from the ground away, without hue; the end stays below the lightest weight. */
export const GREY_ON_PLATE = between([[0, 0, 4], [88, 90, 98], [196, 198, 206]]);
/** Signed values on plates; the middle is the ground. */
export const ICE_FIRE = between([
  [200, 236, 255], [110, 190, 255], [40, 120, 220], [0, 0, 4], [214, 70, 40], [255, 150, 60], [255, 232, 150],
]);
