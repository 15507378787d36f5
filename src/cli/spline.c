/* spline.c: derivatives of a recorded column, from the cubic spline through it.
 *
 * With h_k = t_{k+1} - t_k, chords c_k = (v_{k+1} - v_k)/h_k and second derivatives m_k:
 *
 *     h_{k-1} m_{k-1} + 2 (h_{k-1} + h_k) m_k + h_k m_{k+1} = 6 (c_k - c_{k-1})
 *
 * inside.  At the ends the third derivative is continuous at the first and the last key but one
 * ("not a knot"): a natural spline, whose second derivative is 0 at its ends, would say that every
 * motion starts and stops without acceleration.  For samples of a smooth motion every h apart the
 * second derivative is right to O(h^2) everywhere; the first to O(h^4) inside and O(h^3) at the
 * ends. */
#include "cli/spline.h"

static double chord(const double *t, const double *v, int k) {
  return (v[k + 1] - v[k]) / (t[k + 1] - t[k]);
}

/* m_0 and m_{n-1} are eliminated first: m_0 = m_1 + (m_1 - m_2) h_0/h_1 leaves
 *     (h_0 + 2 h_1) m_1 + (h_1 - h_0) m_2 = 6 (c_1 - c_0) h_1/(h_0 + h_1)
 * and likewise at the other end.  All rows are diagonally dominant: no pivoting is needed. */
static void solve_bends(const double *t, const double *v, int n, double *m, double *work) {
  double *upper = work, *right = work + n;
  upper[0] = right[0] = 0;
  for (int k = 1; k < n - 1; k++) {
    const double h0 = t[k] - t[k - 1], h1 = t[k + 1] - t[k];
    double below = h0, diagonal = 2 * (h0 + h1), above = h1;
    double side = 6 * (chord(t, v, k) - chord(t, v, k - 1));
    if (k == 1) {
      side *= h1 / (h0 + h1);
      diagonal = h0 + 2 * h1;
      above = h1 - h0;
      below = 0;
    }
    if (k == n - 2) {
      side *= h0 / (h0 + h1);
      diagonal = h1 + 2 * h0;
      below = h0 - h1;
      above = 0;
    }
    const double pivot = diagonal - below * upper[k - 1];
    upper[k] = above / pivot;
    right[k] = (side - below * right[k - 1]) / pivot;
  }
  m[n - 2] = right[n - 2];
  for (int k = n - 3; k > 0; k--) {
    m[k] = right[k] - upper[k] * m[k + 1];
  }
  m[0] = m[1] + (m[1] - m[2]) * (t[1] - t[0]) / (t[2] - t[1]);
  m[n - 1] = m[n - 2] + (m[n - 2] - m[n - 3]) * (t[n - 1] - t[n - 2]) / (t[n - 2] - t[n - 3]);
}

void cli_spline_derive(const double *t, const double *v, int n, double *slope, double *bend,
                       double *work) {
  if (n < 4) { /* a line, or a parabola */
    const double m = n < 3 ? 0 : 2 * (chord(t, v, 1) - chord(t, v, 0)) / (t[2] - t[0]);
    for (int k = 0; k < n; k++) {
      bend[k] = m;
    }
  } else {
    solve_bends(t, v, n, bend, work);
  }
  for (int k = 0; k < n; k++) {
    const int piece = k < n - 1 ? k : n - 2;
    const double h = t[piece + 1] - t[piece];
    slope[k] = chord(t, v, piece) + (k < n - 1 ? -h / 6 * (2 * bend[piece] + bend[piece + 1])
                                               : h / 6 * (bend[piece] + 2 * bend[piece + 1]));
  }
}
