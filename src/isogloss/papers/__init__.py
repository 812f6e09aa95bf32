"""The three papers that isogloss implements: their systems, their baselines, and the commands that repeat their tables.

    smooth       Liu, Zhang, Goldwasser and Wang. Cross-Lingual Document Retrieval with Smooth Learning. 2020.
    layerwise    Li, Du and Chen. Cross-language question retrieval with multi-layer representation and layer-wise
                 adversary. 2020.
    adhoc        Altaweel, Sadova, Barni and Takieddin. Cross-Lingual ad hoc Semantic Retrieval.

Start with the sub-package of the paper that you study. Its docstring has the reference, the names of the systems, a
table from each equation to the code, and the command for each table and figure:

    isogloss systems                                                           all systems and their papers
    isogloss reproduce smooth table2 --data SOURCE --pair en-fr -o DIR         a table of a paper on your data
    isogloss train smooth --data SOURCE --pair en-fr -o RUN                    one system on your data

**The papers and the engine.** This package uses the engine: documents, judgments, the tokenizer, lexicons, measures,
protocols and the base classes of systems. No module of the engine imports this package, so that a search with the
default system never loads a trainer. The engine finds the classes of this package by entry points, in the same way as
it finds those of any other installed package:

    isogloss.systems     smooth, layerwise, layerwise-paper, aligned, and the baselines of the layer-wise paper
    isogloss.readers     platt: comparable documents as TF-IDF matrices
    isogloss.commands    reproduce, vectors

``docs/guides/extend.md`` explains how to register a system, a reader or a command. What the papers leave open is
decided in ``docs/decisions/reading-the-papers.md``. Measured results are in ``docs/results/``.

**Sub-packages.**

    smooth                  the smooth learning paper: smooth cosine, SOSL, encoders, learners, theory
    layerwise               the layer-wise adversary paper: layered CNN, critics, and its baselines
    adhoc                   the ad hoc retrieval paper: aligned word vectors, TF-IDF matrices
    word_vectors            word vectors: read, write, train, align, find nearest words, average over a text
    reproduction            what all reproductions share: trials, plans, pages, figures, and the papers' own numbers
    commands                the commands ``isogloss reproduce`` and ``isogloss vectors``

**Shared modules**, from data to trained systems.

    examples                what is trained on and measured on, as arrays: graded pairs and ranked lists
    initial_vectors         the word vectors that a training starts from: random, from a file, or of the collection
    similarity              the smooth cosine, for numpy arrays and torch tensors
    towers                  networks that make one vector from the words of a text: average, CNN, LSTM (torch)
    torch_encoder           encoding texts with trained towers, with arrays as input and output
    torch_inference         encoding texts with any trained torch network, in batches of similar length
    integrated_gradients    the share of each word in a vector that a network made
    learner                 the interface of what is trained: steps over batches, and a state that can be restored
    torch_steps             the steps of learners in torch: Adam, and steps recorded on a GPU
    training_loop           the training loop: epochs, learning rates, early stopping, interruption, progress
    checkpoints             writing and reading the checkpoints of a training
    trained_system          TrainedSystem: the base class of systems that are trained by gradient descent, in epochs
    __main__                ``python -m isogloss.papers smooth|layerwise DIR PLAN.json``: run the trials of a plan
"""
