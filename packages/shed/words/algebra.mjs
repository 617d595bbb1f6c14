/** A sparse matrix, row after row. */
export class Sparse {
  /** @param {Map<number, number>[]} rows column to value */
  constructor(rows, columns) {
    this.rows = rows.length;
    this.columns = columns;
    this.starts = new Int32Array(rows.length + 1);
    for (const [i, row] of rows.entries()) this.starts[i + 1] = this.starts[i] + row.size;
    this.at = new Int32Array(this.starts[rows.length]);
    this.values = new Float32Array(this.at.length);
    let next = 0;
    for (const row of rows) {
      for (const [column, value] of row) {
        this.at[next] = column;
        this.values[next++] = value;
      }
    }
  }

  /** This times a dense matrix of `width` columns. */
  times(dense, width) {
    const product = new Float32Array(this.rows * width);
    for (let row = 0; row < this.rows; row++) {
      for (let i = this.starts[row]; i < this.starts[row + 1]; i++) {
        const value = this.values[i];
        const from = this.at[i] * width;
        for (let k = 0, to = row * width; k < width; k++, to++) product[to] += value * dense[from + k];
      }
    }
    return product;
  }

  /** This, transposed, times a dense matrix of `width` columns. */
  transposedTimes(dense, width) {
    const product = new Float32Array(this.columns * width);
    for (let row = 0; row < this.rows; row++) {
      for (let i = this.starts[row]; i < this.starts[row + 1]; i++) {
        const value = this.values[i];
        const to = this.at[i] * width;
        for (let k = 0, from = row * width; k < width; k++, from++) product[to + k] += value * dense[from];
      }
    }
    return product;
  }
}

/** Makes the columns of a tall matrix orthogonal and of length 1, in place: by Cholesky's factors, twice for accuracy. */
export function orthonormalise(matrix, rows, width) {
  for (let pass = 0; pass < 2; pass++) {
    const factor = cholesky(gram(matrix, rows, width), width);
    for (let at = 0; at < rows * width; at += width) {
      for (let k = 0, row = 0; k < width; k++, row += width) {
        let sum = matrix[at + k];
        for (let j = 0; j < k; j++) sum -= factor[row + j] * matrix[at + j];
        matrix[at + k] = sum / factor[row + k];
      }
    }
  }
  return matrix;
}

/** The products of each pair of columns, in the lower triangle. */
function gram(matrix, rows, width) {
  const products = new Float64Array(width * width);
  for (let at = 0; at < rows * width; at += width) {
    for (let i = 0, row = 0; i < width; i++, row += width) {
      const value = matrix[at + i];
      for (let j = 0; j <= i; j++) products[row + j] += value * matrix[at + j];
    }
  }
  return products;
}

/** The lower triangle whose product with its transpose is a matrix, in place of that one's. */
function cholesky(matrix, width) {
  for (let i = 0; i < width; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * width + j];
      for (let k = 0; k < j; k++) sum -= matrix[i * width + k] * matrix[j * width + k];
      matrix[i * width + j] = i === j ? Math.sqrt(sum) : sum / matrix[j * width + j];
    }
  }
  return matrix;
}

/** The strongest `count` left singular vectors, as rows of a matrix, each times a power of its singular value. */
export function embed(matrix, count, power, random) {
  const width = count + 20;
  let basis = matrix.times(gaussian(matrix.columns * width, random), width);
  for (let round = 0; round < 3; round++) {
    orthonormalise(basis, matrix.rows, width);
    basis = matrix.times(matrix.transposedTimes(basis, width), width);
  }
  orthonormalise(basis, matrix.rows, width);
  // basis' * matrix has the same singular values; its left vectors come from a small symmetric matrix.
  const small = matrix.transposedTimes(basis, width);
  const products = gram(small, matrix.columns, width);
  const square = Array.from({ length: width }, (_, i) =>
    Float64Array.from({ length: width }, (_, j) => products[Math.max(i, j) * width + Math.min(i, j)]),
  );
  const { values, vectors } = eigen(square);
  const order = Array.from(values.keys()).sort((a, b) => values[b] - values[a]);
  const embedded = new Float32Array(matrix.rows * count);
  for (let k = 0; k < count; k++) {
    const which = order[k];
    const scale = Math.sqrt(Math.max(0, values[which])) ** power;
    for (let row = 0; row < matrix.rows; row++) {
      let sum = 0;
      for (let j = 0; j < width; j++) sum += basis[row * width + j] * vectors[j][which];
      embedded[row * count + k] = sum * scale;
    }
  }
  return embedded;
}

/** Eigenvalues and vectors (columns) of a symmetric matrix, by Jacobi's rotations. */
function eigen(matrix) {
  const n = matrix.length;
  const vectors = Array.from({ length: n }, (_, i) => Float64Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0;
    let all = 0;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const square = matrix[i][j] ** 2;
        all += square;
        if (i !== j) off += square;
      }
    }
    if (off <= 1e-18 * all) break;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(matrix, vectors, p, q);
  }
  return { values: Float64Array.from(matrix, (row, i) => row[i]), vectors };
}

function rotate(matrix, vectors, p, q) {
  const off = matrix[p][q];
  if (off === 0) return;
  const theta = (matrix[q][q] - matrix[p][p]) / (2 * off);
  const tangent = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const sine = tangent * cosine;
  const n = matrix.length;
  for (let k = 0; k < n; k++) {
    const a = matrix[k][p];
    const b = matrix[k][q];
    matrix[k][p] = cosine * a - sine * b;
    matrix[k][q] = sine * a + cosine * b;
  }
  for (let k = 0; k < n; k++) {
    const a = matrix[p][k];
    const b = matrix[q][k];
    matrix[p][k] = cosine * a - sine * b;
    matrix[q][k] = sine * a + cosine * b;
    const c = vectors[k][p];
    const d = vectors[k][q];
    vectors[k][p] = cosine * c - sine * d;
    vectors[k][q] = sine * c + cosine * d;
  }
}

export function gaussian(length, random) {
  return Float32Array.from({ length }, () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
}
